"""The file that a ledger is kept in: its tables, how it is opened, and what is said when SQLite can't use it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote

from casewright.errors import WorkspaceError

SCHEMA: Final = 1
# "cwrt": tells a ledger from any other SQLite file.
APPLICATION_ID: Final = 0x63777274
_TABLE_NAMES: Final = frozenset({"sittings", "attempts", "eras"})
_TABLES: Final = """
CREATE TABLE sittings (
  number INTEGER PRIMARY KEY,
  repository TEXT NOT NULL,
  configuration TEXT NOT NULL,
  tool TEXT NOT NULL,
  started INTEGER NOT NULL
) STRICT;
CREATE TABLE attempts (
  number INTEGER PRIMARY KEY,
  sitting INTEGER NOT NULL REFERENCES sittings,
  base BLOB NOT NULL,
  head BLOB NOT NULL,
  landing TEXT NOT NULL,
  subject TEXT NOT NULL,
  reached TEXT NOT NULL,
  standing TEXT NOT NULL,
  reason TEXT,
  started INTEGER,
  finished INTEGER,
  record TEXT,
  CHECK (standing <> 'rejected' OR reason IS NOT NULL)
) STRICT;
CREATE INDEX attempts_by_head ON attempts (head);
CREATE TABLE eras (
  number INTEGER PRIMARY KEY,
  era TEXT NOT NULL,
  date INTEGER NOT NULL,
  UNIQUE (era, date)
) STRICT;
"""

_HINTS: Final = {
    sqlite3.SQLITE_READONLY: "make the workspace writable, or work in a copy of it",
    sqlite3.SQLITE_CANTOPEN: "check that the folder is there and that you may write to it",
    sqlite3.SQLITE_FULL: "make room on that disk; what was kept before is safe",
    sqlite3.SQLITE_IOERR: "check that disk; what was kept before is safe",
    sqlite3.SQLITE_BUSY: "another process uses it; wait until it ends",
    sqlite3.SQLITE_PERM: "check that you may read and write it",
}


def prepare(path: Path, connection: sqlite3.Connection) -> None:
    """Make the tables where there are none yet; raises ``WorkspaceError`` when the file is none of ours."""
    # Where the file system can't do WAL (some network mounts), SQLite keeps its older journal: slower, no less safe.
    connection.execute("PRAGMA journal_mode = WAL")
    # A verdict costs minutes, a flush milliseconds: kept means kept, also when the machine loses power.
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("BEGIN IMMEDIATE")
    if is_empty(path, connection):
        for statement in _TABLES.split(";"):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {SCHEMA}")
    connection.execute("COMMIT")


def is_empty(path: Path, connection: sqlite3.Connection) -> bool:
    """Return whether the file holds nothing yet; raises ``WorkspaceError`` when what it holds is none of ours."""
    application = int(connection.execute("PRAGMA application_id").fetchone()[0])
    schema = int(connection.execute("PRAGMA user_version").fetchone()[0])
    names = {str(row[0]) for row in connection.execute("SELECT name FROM sqlite_master")}
    if (application, schema, len(names)) == (0, 0, 0):
        return True
    if application != APPLICATION_ID:
        raise WorkspaceError(
            f"{path} is an SQLite file, but no ledger of casewright", "move it away; a new ledger is made in its place"
        )
    if schema != SCHEMA:
        raise WorkspaceError(
            f"the ledger {path} has schema {schema}, this version reads schema {SCHEMA}",
            "use the version of casewright that wrote it, or a newer one",
        )
    missing = _TABLE_NAMES - names
    if missing:
        raise _damaged(path, f"it has no table {', '.join(sorted(missing))}")
    return False


def connection_to_read(path: Path) -> sqlite3.Connection:
    """Open the file so that no row can be written to it, also on a read-only file system; it leaves no file behind."""
    name = "file:" + quote(bytes(path.absolute()))
    log = path.with_name(path.name + "-wal")
    # A reader of WAL makes a log and an index beside the file, and only one that may write takes them away when it
    # closes. Where a log is there already, somebody writes or was killed: it is read and left as it is.
    mode = "ro" if log.exists() else "rw"
    connection = sqlite3.connect(f"{name}?mode={mode}", uri=True, check_same_thread=False, timeout=30)
    try:
        connection.execute("PRAGMA query_only = ON")
        connection.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.OperationalError:
        connection.close()
        # A read-only file system refuses log and index; then nobody else writes either, and what is in the file is all
        # there is unless a log was left beside it.
        if log.exists() and log.stat().st_size:
            raise
        return sqlite3.connect(f"{name}?mode=ro&immutable=1", uri=True, check_same_thread=False)
    return connection


def _damaged(path: Path, what: str) -> WorkspaceError:
    return WorkspaceError(
        f"the ledger {path} is damaged: {what}",
        "move it away together with its -wal and -shm files; drafts stay, and changes are judged again",
    )


@contextmanager
def understood(path: Path) -> Iterator[None]:
    """Turn a row that this version can't make sense of into one clear line."""
    try:
        yield
    except (ValueError, KeyError, TypeError) as error:
        raise _damaged(path, f"a row can't be understood ({error})") from error


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Turn what SQLite says about the file into one clear line; a wrong statement of ours stays a bug."""
    try:
        yield
    except sqlite3.OperationalError as error:
        hint = _HINTS.get(error.sqlite_errorcode & 0xFF)
        if hint is None:
            raise
        raise WorkspaceError(f"the ledger {path} can't be used: {error}", hint) from error
    except sqlite3.DatabaseError as error:
        if type(error) is not sqlite3.DatabaseError:
            raise
        raise _damaged(path, str(error)) from error
