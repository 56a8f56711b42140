"""The ledger: every change ever looked at in a workspace and every attempt at it; rows are only ever added.

Changes that a screen refused are lean rows (ids and codes; whoever prints them makes the sentence), changes that were
judged hold their whole ``Judgement`` as JSON. Object ids go in and out as full lowercase hex; points in time are whole
milliseconds since the epoch, dates of eras whole seconds. What a method has returned from is on disk: a process that is
killed loses nothing that it was told is kept. The file is SQLite (``miner.ledger_file``).

A ledger may be used by all threads of one process. Of several processes one may write: the workspace's lock sees to it.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from time import time
from types import TracebackType
from typing import Final, Self

from miner.funnel import Tally
from miner.judgement import Judgement, Reached, Standing
from miner.judgement_record import judgement_from_record, record_from_judgement
from miner.ledger_file import connection_to_read, is_empty, prepare, told, understood
from miner.reasons import Reason

BATCH: Final = 5000

# A second scan of the same history adds no row for a change that it refuses for the same reason as before.
_INSERT_REFUSED: Final = """
INSERT INTO attempts (sitting, base, head, landing, subject, reason, reached, standing)
SELECT ?1, ?3, ?4, ?5, ?6, ?7, 'scanned', 'rejected'
WHERE ?7 IS NOT (
  SELECT CASE WHEN record IS NULL THEN reason END
  FROM attempts JOIN sittings ON sittings.number = sitting
  WHERE head = ?4 AND base = ?3 AND repository = ?2
  ORDER BY attempts.number DESC LIMIT 1
)
"""

_INSERT_JUDGED: Final = """
INSERT INTO attempts (sitting, base, head, landing, subject, reached, standing, reason, started, finished, record)
VALUES (:sitting, :base, :head, :landing, :subject, :reached, :standing, :reason, :started, :finished, :record)
"""

_LATEST: Final = """
FROM attempts JOIN sittings ON sittings.number = sitting
WHERE attempts.number IN (
  SELECT max(attempts.number) FROM attempts JOIN sittings ON sittings.number = sitting
  WHERE :repository IS NULL OR repository = :repository
  GROUP BY repository, base, head
)
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Refused:
    """A change that a screen refused before anything ran."""

    base: str
    head: str
    landing: str
    reason: Reason
    subject: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """A judged change as it was kept: with what tool and under which configuration, from when to when."""

    judgement: Judgement
    configuration: str
    tool: str
    started: int
    finished: int


class Ledger:
    """An open ledger. Close it, or use it as a context manager."""

    def __init__(self, path: Path, connection: sqlite3.Connection, tool: str) -> None:
        self._path = path
        self._tool = tool
        self._connection = connection
        self._turn = threading.RLock()
        self._sittings: dict[tuple[str, str], int] = {}

    @classmethod
    def open(cls, path: Path, *, tool: str) -> Ledger:
        """Open the ledger at ``path`` for reading and writing; it is made when it isn't there, its folder is not.

        ``tool`` is the version that every row added from now on is said to come from.

        Raises ``WorkspaceError`` when the file can't be opened, is damaged, is none of ours or has a later schema.
        """
        with told(path):
            connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30)
            try:
                prepare(path, connection)
            except BaseException:
                connection.close()
                raise
        return cls(path, connection, tool)

    @classmethod
    def open_to_read(cls, path: Path) -> Ledger | None:
        """Open the ledger at ``path`` for reading alone, or return None when there is none yet.

        Works while another process writes, and on a read-only file system. Raises ``WorkspaceError`` as ``open`` does.
        """
        if not path.exists():
            return None
        with told(path):
            connection = connection_to_read(path)
            try:
                empty = is_empty(path, connection)
            except BaseException:
                connection.close()
                raise
        if empty:
            connection.close()
            return None
        return cls(path, connection, "")

    @classmethod
    def open_copy(cls, path: Path, *, tool: str) -> Ledger:
        """Return a copy of the ledger at ``path`` (an empty one where there is none) that is in memory alone.

        For a rehearsal: it knows what the ledger knows, and what is added to it is gone when it is closed.
        """
        original = cls.open_to_read(path)
        connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        if original is None:
            prepare(path, connection)
        else:
            with original, told(path):
                original._connection.backup(connection)
        return cls(path, connection, tool)

    def close(self) -> None:
        """Close the file."""
        with self._turn, told(self._path):
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def refused(self, repository: str, configuration: str, rows: Iterable[Refused]) -> int:
        """Add changes that a screen refused, in batches of one transaction each; return how many rows are new.

        ``rows`` may be endless work: it is read as it comes. Raises ``WorkspaceError`` when the file can't be written.
        """
        added = 0
        stream = iter(rows)
        while batch := list(islice(stream, BATCH)):
            with self._writing():
                sitting = self._sitting(repository, configuration)
                cursor = self._connection.executemany(
                    _INSERT_REFUSED,
                    (
                        (
                            sitting,
                            repository,
                            bytes.fromhex(row.base),
                            bytes.fromhex(row.head),
                            row.landing,
                            _storable(row.subject),
                            row.reason.value,
                        )
                        for row in batch
                    ),
                )
                added += cursor.rowcount
        return added

    def judged(self, judgement: Judgement, *, configuration: str, started: int, finished: int) -> None:
        """Add an attempt at a change. Raises ``WorkspaceError`` when the file can't be written."""
        with self._writing():
            self._connection.execute(
                _INSERT_JUDGED,
                {
                    "sitting": self._sitting(judgement.repository, configuration),
                    "base": bytes.fromhex(judgement.base),
                    "head": bytes.fromhex(judgement.head),
                    "landing": judgement.landing,
                    "subject": _storable(judgement.subject),
                    "reached": judgement.reached.value,
                    "standing": judgement.standing.value,
                    "reason": None if judgement.reason is None else judgement.reason.value,
                    "started": started,
                    "finished": finished,
                    "record": record_from_judgement(judgement),
                },
            )

    def known(self, repository: str, head: str, base: str, configuration: str) -> Judgement | None:
        """Return the judgement that need not be made again, or None.

        The latest attempt at the change decides, and only when it was made under the same ``configuration`` and ended
        in a verdict: what the machine or a registry spoilt is judged again, as is what only a screen has seen.
        """
        with self._turn, told(self._path):
            row = self._connection.execute(
                "SELECT configuration, standing, record FROM attempts JOIN sittings ON sittings.number = sitting"
                " WHERE head = ? AND base = ? AND repository = ? ORDER BY attempts.number DESC LIMIT 1",
                (bytes.fromhex(head), bytes.fromhex(base), repository),
            ).fetchone()
        if row is None:
            return None
        kept_configuration, standing, record = row
        if record is None or kept_configuration != configuration:
            return None
        if standing not in {Standing.ADMITTED, Standing.REJECTED}:
            return None
        return self._read(record)

    def era_date(self, era: str, wanted: int, window: int) -> int:
        """Return the date (seconds, UTC) that the environment of an era is pinned to for a change of date ``wanted``.

        The first date kept for the era that is not before ``wanted`` and not more than ``window`` seconds after it is
        used again, so that neighbouring changes share an environment; else ``wanted`` is kept as a further date. Dates
        are tried in the order in which they were kept, so a run that is resumed gives each change the date it had.
        """
        with self._writing():
            row = self._connection.execute(
                "SELECT date FROM eras WHERE era = ? AND date BETWEEN ? AND ? ORDER BY number LIMIT 1",
                (era, wanted, wanted + window),
            ).fetchone()
            if row is not None:
                return int(row[0])
            self._connection.execute("INSERT INTO eras (era, date) VALUES (?, ?)", (era, wanted))
            return wanted

    def repositories(self) -> tuple[str, ...]:
        """Return the names of all repositories that a change was looked at in, sorted."""
        with self._turn, told(self._path):
            rows = self._connection.execute("SELECT DISTINCT repository FROM sittings ORDER BY repository").fetchall()
        return tuple(str(row[0]) for row in rows)

    def tallies(self, repository: str | None = None) -> tuple[Tally, ...]:
        """Count the changes (of one repository, or of all) by what became of them; the latest attempt counts."""
        with self._turn, told(self._path):
            rows = self._connection.execute(
                f"SELECT reached, standing, reason, count(*) {_LATEST} GROUP BY reached, standing, reason",
                {"repository": repository},
            ).fetchall()
        with understood(self._path):
            return tuple(
                Tally(
                    reached=Reached(reached),
                    standing=Standing(standing),
                    reason=None if reason is None else Reason(reason),
                    count=int(count),
                )
                for reached, standing, reason, count in rows
            )

    def latest(self, *, repository: str | None = None, reason: Reason | None = None) -> Iterator[Judgement]:
        """Give the latest attempt at each change, in the order in which they were kept; ``reason`` keeps that one only.

        A change that only a screen has seen comes without detail: its reason's sentence says all there is.
        """
        with self._turn, told(self._path):
            rows = self._connection.execute(
                f"SELECT repository, base, head, landing, subject, reached, standing, reason, record {_LATEST}"
                " AND (:reason IS NULL OR reason = :reason) ORDER BY attempts.number",
                {"repository": repository, "reason": None if reason is None else reason.value},
            ).fetchall()
        for name, base, head, landing, subject, reached, standing, code, record in rows:
            if record is not None:
                yield self._read(record)
                continue
            with understood(self._path):
                judgement = Judgement(
                    repository=name,
                    base=base.hex(),
                    head=head.hex(),
                    landing=landing,
                    subject=subject,
                    reached=Reached(reached),
                    standing=Standing(standing),
                    reason=None if code is None else Reason(code),
                )
            yield judgement

    def attempts(self, repository: str, head: str, base: str) -> tuple[Attempt, ...]:
        """Return every judged attempt at one change, oldest first."""
        with self._turn, told(self._path):
            rows = self._connection.execute(
                "SELECT record, configuration, tool, attempts.started, finished"
                " FROM attempts JOIN sittings ON sittings.number = sitting"
                " WHERE head = ? AND base = ? AND repository = ? AND record IS NOT NULL ORDER BY attempts.number",
                (bytes.fromhex(head), bytes.fromhex(base), repository),
            ).fetchall()
        return tuple(
            Attempt(judgement=self._read(record), configuration=configuration, tool=tool, started=begun, finished=ended)
            for record, configuration, tool, begun, ended in rows
        )

    def _read(self, record: str) -> Judgement:
        with understood(self._path):
            return judgement_from_record(record)

    def _sitting(self, repository: str, configuration: str) -> int:
        key = (repository, configuration)
        if key not in self._sittings:
            cursor = self._connection.execute(
                "INSERT INTO sittings (repository, configuration, tool, started) VALUES (?, ?, ?, ?)",
                (repository, configuration, self._tool, round(time() * 1000)),
            )
            number = cursor.lastrowid
            if number is None:
                raise AssertionError("SQLite gives a row number to every row that it inserts")
            self._sittings[key] = number
        return self._sittings[key]

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._turn, told(self._path):
            known = dict(self._sittings)
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                # A sitting whose row is rolled back would be a reference to nothing.
                self._sittings = known
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise


def _storable(text: str) -> str:
    """Undecodable bytes of a subject are kept as ``\\xNN``: SQLite takes valid Unicode alone."""
    if text.isascii():
        return text
    try:
        data = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        data = text.encode("utf-8", "backslashreplace")
    return data.decode("utf-8", "backslashreplace")
