"""The ledger keeps what was found, counts the latest attempt, survives a kill and says what is wrong with a file."""

from __future__ import annotations

import dataclasses
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from casewright.errors import WorkspaceError
from miner.funnel import funnel
from miner.judgement import ExcludedFile, FailsByRow, Judgement, Reached, Standing
from miner.ledger import BATCH, Ledger, Refused
from miner.reasons import Reason

BASE = "a" * 40
HEAD = "b" * 40
DAY = 86400

ADMITTED = Judgement(
    repository="https://example.org/box",
    base=BASE,
    head=HEAD,
    landing="merge",
    subject="Multiply, do not add",
    reached=Reached.ADMITTED,
    standing=Standing.ADMITTED,
    graded_files=("tests/test_box.py",),
    excluded_files=(ExcludedFile(path="tests/test_red.py", reason=Reason.RED_AT_BOTH, detail="tests/test_red.py::t"),),
    fail_to_pass=("tests/test_box.py::test_area",),
    pass_to_pass=("tests/test_box.py::test_name",),
    fails_by=(FailsByRow(id="tests/test_box.py::test_area", how="assertion"),),
    case="box-bbbbbbbbbb",
    milliseconds=1200,
)
REJECTED = dataclasses.replace(
    ADMITTED,
    reached=Reached.RAN,
    standing=Standing.REJECTED,
    reason=Reason.BASE_PASSES,
    detail="all 3 tests pass",
    case=None,
)
BROKEN = dataclasses.replace(REJECTED, standing=Standing.INFRASTRUCTURE, reason=Reason.INFRASTRUCTURE)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


@pytest.fixture
def ledger(path: Path) -> Iterator[Ledger]:
    with Ledger.open(path, tool="0.1.0") as opened:
        yield opened


def keep(ledger: Ledger, judgement: Judgement, configuration: str = "c1") -> None:
    ledger.judged(judgement, configuration=configuration, started=1000, finished=2000)


def known(ledger: Ledger, configuration: str = "c1") -> Judgement | None:
    return ledger.known(ADMITTED.repository, HEAD, BASE, configuration)


def refused(number: int, reason: Reason = Reason.NO_TEST_CHANGE, subject: str = "") -> Refused:
    return Refused(base=f"{number:040x}", head=f"{number + 1:040x}", landing="direct", reason=reason, subject=subject)


class TestWhatIsKnown:
    def test_nothing_is_known_of_a_change_that_was_never_looked_at(self, ledger: Ledger) -> None:
        assert known(ledger) is None

    @pytest.mark.parametrize("judgement", [ADMITTED, REJECTED])
    def test_a_verdict_is_known_again_whole(self, ledger: Ledger, judgement: Judgement) -> None:
        keep(ledger, judgement)
        assert known(ledger) == judgement

    def test_a_verdict_under_another_configuration_is_made_again(self, ledger: Ledger) -> None:
        keep(ledger, ADMITTED)
        assert known(ledger, "c2") is None

    def test_the_latest_attempt_decides(self, ledger: Ledger) -> None:
        keep(ledger, ADMITTED)
        keep(ledger, REJECTED, "c2")
        assert known(ledger) is None
        assert known(ledger, "c2") == REJECTED

    def test_what_the_machine_spoilt_is_judged_again(self, ledger: Ledger) -> None:
        keep(ledger, BROKEN)
        assert known(ledger) is None

    def test_a_change_of_another_base_or_repository_is_another_change(self, ledger: Ledger) -> None:
        keep(ledger, ADMITTED)
        assert ledger.known(ADMITTED.repository, HEAD, "c" * 40, "c1") is None
        assert ledger.known("https://example.org/other", HEAD, BASE, "c1") is None

    def test_a_screened_change_is_no_verdict_to_take_over(self, ledger: Ledger) -> None:
        keep(ledger, ADMITTED)
        ledger.refused(
            ADMITTED.repository, "c1", [Refused(base=BASE, head=HEAD, landing="merge", reason=Reason.TOO_LARGE)]
        )
        assert known(ledger) is None

    def test_ids_of_64_digits_are_kept_too(self, ledger: Ledger) -> None:
        judgement = dataclasses.replace(ADMITTED, base="c" * 64, head="d" * 64)
        keep(ledger, judgement)
        assert ledger.known(judgement.repository, "d" * 64, "c" * 64, "c1") == judgement

    def test_text_that_is_not_unicode_is_known_again_as_it_was(self, ledger: Ledger) -> None:
        judgement = dataclasses.replace(ADMITTED, subject="caf\udce9", detail="\udcff")
        keep(ledger, judgement)
        assert known(ledger) == judgement


class TestAppending:
    def test_every_attempt_stays_with_its_tool_and_configuration(self, path: Path) -> None:
        with Ledger.open(path, tool="0.1.0") as first:
            keep(first, BROKEN)
        with Ledger.open(path, tool="0.2.0") as second:
            keep(second, ADMITTED, "c2")
            attempts = second.attempts(ADMITTED.repository, HEAD, BASE)
        assert [(a.judgement, a.tool, a.configuration, a.started, a.finished) for a in attempts] == [
            (BROKEN, "0.1.0", "c1", 1000, 2000),
            (ADMITTED, "0.2.0", "c2", 1000, 2000),
        ]

    def test_a_rejection_without_a_reason_is_a_bug(self, ledger: Ledger) -> None:
        with pytest.raises(sqlite3.IntegrityError):
            keep(ledger, dataclasses.replace(REJECTED, reason=None))

    def test_a_row_that_was_refused_leaves_the_ledger_usable(self, ledger: Ledger) -> None:
        with pytest.raises(sqlite3.IntegrityError):
            keep(ledger, dataclasses.replace(REJECTED, reason=None))
        keep(ledger, ADMITTED)
        assert known(ledger) == ADMITTED

    def test_a_second_scan_of_the_same_history_adds_nothing(self, ledger: Ledger) -> None:
        rows = [refused(number) for number in range(BATCH + 1)]
        assert ledger.refused("r", "c1", iter(rows)) == BATCH + 1
        assert ledger.refused("r", "c2", iter(rows)) == 0

    def test_a_change_that_is_screened_for_another_reason_than_before_is_added(self, ledger: Ledger) -> None:
        ledger.refused("r", "c1", [refused(1)])
        assert ledger.refused("r", "c2", [refused(1, Reason.TOO_LARGE)]) == 1
        (row,) = ledger.latest()
        assert row.reason is Reason.TOO_LARGE

    def test_a_judged_change_that_a_screen_refuses_now_is_added(self, ledger: Ledger) -> None:
        keep(ledger, dataclasses.replace(REJECTED, reason=Reason.TOO_LARGE))
        row = Refused(base=BASE, head=HEAD, landing="merge", reason=Reason.TOO_LARGE)
        assert ledger.refused(ADMITTED.repository, "c2", [row]) == 1

    def test_threads_may_write_at_once(self, ledger: Ledger) -> None:
        def write(number: int) -> None:
            keep(ledger, dataclasses.replace(ADMITTED, head=f"{number:040x}"))

        threads = [threading.Thread(target=write, args=(number,)) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(list(ledger.latest())) == 16


class TestListing:
    def test_a_screened_change_comes_with_its_code_and_no_detail(self, ledger: Ledger) -> None:
        ledger.refused("r", "c1", [refused(1, subject="Say it")])
        (row,) = ledger.latest(reason=Reason.NO_TEST_CHANGE)
        assert (row.head, row.subject, row.detail) == (f"{2:040x}", "Say it", "")
        assert (row.reached, row.standing) == (Reached.SCANNED, Standing.REJECTED)

    def test_undecodable_bytes_of_a_screened_subject_are_shown(self, ledger: Ledger) -> None:
        ledger.refused("r", "c1", [refused(1, subject="caf\udce9 \ud800")])
        (row,) = ledger.latest()
        assert "caf" in row.subject
        assert row.subject.encode("utf-8")

    def test_a_listing_can_be_held_to_a_reason_and_a_repository(self, ledger: Ledger) -> None:
        ledger.refused("r", "c1", [refused(1), refused(2, Reason.TOO_LARGE)])
        ledger.refused("s", "c1", [refused(3, Reason.TOO_LARGE)])
        assert [row.repository for row in ledger.latest(reason=Reason.TOO_LARGE)] == ["r", "s"]
        assert [row.repository for row in ledger.latest(reason=Reason.TOO_LARGE, repository="s")] == ["s"]
        assert ledger.repositories() == ("r", "s")

    def test_the_funnel_counts_each_change_once_by_its_latest_attempt(self, ledger: Ledger) -> None:
        ledger.refused("r", "c1", [refused(number) for number in range(5)])
        keep(ledger, BROKEN)
        keep(ledger, ADMITTED)
        sums = funnel(ledger.tallies())
        assert dict(sums.stages) == {
            Reached.SCANNED: 6,
            Reached.SHAPED: 1,
            Reached.BUILT: 1,
            Reached.RAN: 1,
            Reached.ADMITTED: 1,
        }
        assert [(drop.reason, drop.count) for drop in sums.drops] == [(Reason.NO_TEST_CHANGE, 5)]
        assert sums.infrastructure == 0

    def test_the_funnel_of_one_repository_leaves_the_others_out(self, ledger: Ledger) -> None:
        ledger.refused("r", "c1", [refused(1)])
        ledger.refused("s", "c1", [refused(1), refused(2)])
        assert funnel(ledger.tallies("s")).scanned == 2


class TestEraDates:
    def test_the_first_date_of_an_era_is_used_for_later_changes_within_the_window(self, ledger: Ledger) -> None:
        assert ledger.era_date("e", 100 * DAY, 30 * DAY) == 100 * DAY
        assert ledger.era_date("e", 70 * DAY, 30 * DAY) == 100 * DAY

    def test_a_date_outside_of_the_window_is_kept_as_a_further_one(self, ledger: Ledger) -> None:
        ledger.era_date("e", 100 * DAY, 30 * DAY)
        assert ledger.era_date("e", 69 * DAY, 30 * DAY) == 69 * DAY
        assert ledger.era_date("e", 60 * DAY, 30 * DAY) == 69 * DAY

    def test_a_change_never_gets_a_date_before_its_own(self, ledger: Ledger) -> None:
        ledger.era_date("e", 100 * DAY, 30 * DAY)
        assert ledger.era_date("e", 101 * DAY, 30 * DAY) == 101 * DAY

    def test_eras_do_not_share_dates(self, ledger: Ledger) -> None:
        ledger.era_date("e", 100 * DAY, 30 * DAY)
        assert ledger.era_date("f", 90 * DAY, 30 * DAY) == 90 * DAY

    def test_a_resumed_run_gives_every_change_the_date_it_had(self, path: Path) -> None:
        wanted = [100, 95, 69, 110, 80, 60, 99, 140, 109]
        with Ledger.open(path, tool="t") as first:
            given = [first.era_date("e", day, 30) for day in wanted]
        with Ledger.open(path, tool="t") as second:
            assert [second.era_date("e", day, 30) for day in wanted] == given


class TestARehearsal:
    def test_a_copy_knows_what_the_ledger_knows_and_keeps_nothing(self, ledger: Ledger, path: Path) -> None:
        keep(ledger, ADMITTED)
        ledger.era_date("e", 100 * DAY, 30 * DAY)
        with Ledger.open_copy(path, tool="t") as copy:
            assert known(copy) == ADMITTED
            assert copy.era_date("e", 90 * DAY, 30 * DAY) == 100 * DAY
            keep(copy, REJECTED, "c2")
        assert list(ledger.latest()) == [ADMITTED]

    def test_a_copy_of_nothing_is_empty_and_makes_no_file(self, path: Path) -> None:
        with Ledger.open_copy(path, tool="t") as copy:
            assert copy.tallies() == ()
        assert not path.exists()


class TestTheFile:
    def test_reading_where_there_is_none_makes_none(self, path: Path) -> None:
        assert Ledger.open_to_read(path) is None
        assert not path.exists()

    def test_an_empty_file_is_a_ledger_without_rows(self, path: Path) -> None:
        path.touch()
        assert Ledger.open_to_read(path) is None
        with Ledger.open(path, tool="t") as ledger:
            assert ledger.tallies() == ()

    def test_it_can_be_read_while_it_is_written(self, ledger: Ledger, path: Path) -> None:
        keep(ledger, ADMITTED)
        reader = Ledger.open_to_read(path)
        assert reader is not None
        with reader:
            assert list(reader.latest()) == [ADMITTED]

    @pytest.mark.usefixtures("ledger")
    def test_a_reader_can_not_write(self, path: Path) -> None:
        reader = Ledger.open_to_read(path)
        assert reader is not None
        with reader, pytest.raises(WorkspaceError, match="readonly"):
            keep(reader, ADMITTED)

    @pytest.mark.parametrize("content", [b"no database at all, but long enough to be looked at" * 40, b"\0" * 8192])
    def test_a_damaged_file_is_one_clear_line(self, path: Path, content: bytes) -> None:
        path.write_bytes(content)
        with pytest.raises(WorkspaceError, match=r"damaged.*move it away"):
            Ledger.open(path, tool="t")
        with pytest.raises(WorkspaceError, match=r"damaged.*move it away"):
            Ledger.open_to_read(path)

    def test_a_file_cut_short_is_one_clear_line(self, path: Path) -> None:
        with Ledger.open(path, tool="t") as ledger:
            ledger.refused("r", "c", [refused(number) for number in range(500)])
        os.truncate(path, path.stat().st_size // 2)
        with pytest.raises(WorkspaceError, match=r"damaged.*move it away"), Ledger.open(path, tool="t") as ledger:
            list(ledger.latest())

    def test_a_ledger_of_a_later_version_is_refused(self, path: Path) -> None:
        Ledger.open(path, tool="t").close()
        with sqlite3.connect(path) as connection:
            connection.execute("PRAGMA user_version = 7")
        connection.close()
        with pytest.raises(WorkspaceError, match=r"schema 7, this version reads schema 1; use the version"):
            Ledger.open(path, tool="t")

    def test_a_database_of_somebody_else_is_left_alone(self, path: Path) -> None:
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE theirs (x)")
        connection.close()
        with pytest.raises(WorkspaceError, match="no ledger of casewright"):
            Ledger.open(path, tool="t")

    def test_a_code_that_this_version_does_not_know_is_one_clear_line(self, path: Path) -> None:
        with Ledger.open(path, tool="t") as ledger:
            ledger.refused("r", "c", [refused(1)])
        with sqlite3.connect(path) as connection:
            connection.execute("UPDATE attempts SET reason = 'of-the-future'")
        connection.close()
        with Ledger.open(path, tool="t") as ledger, pytest.raises(WorkspaceError, match="of-the-future"):
            ledger.tallies()

    def test_a_folder_that_is_not_there_is_one_clear_line(self, tmp_path: Path) -> None:
        with pytest.raises(WorkspaceError, match="check that the folder is there"):
            Ledger.open(tmp_path / "missing" / "ledger.db", tool="t")

    def test_a_full_disk_is_one_clear_line_and_loses_nothing(self, ledger: Ledger) -> None:
        keep(ledger, ADMITTED)
        # SQLite's own bound on a file's size fails exactly as a disk without room does.
        pages = ledger._connection.execute("PRAGMA page_count").fetchone()[0]
        ledger._connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(WorkspaceError, match="make room"):
            ledger.refused("r", "c", [refused(number) for number in range(2000)])
        assert known(ledger) == ADMITTED

    def test_reading_leaves_nothing_behind_and_writes_no_row(self, path: Path) -> None:
        with Ledger.open(path, tool="t") as ledger:
            keep(ledger, ADMITTED)
        before = {entry.name: entry.read_bytes() for entry in path.parent.iterdir()}
        reader = Ledger.open_to_read(path)
        assert reader is not None
        with reader:
            assert list(reader.latest()) == [ADMITTED]
            with pytest.raises(WorkspaceError):
                keep(reader, ADMITTED)
        with Ledger.open_copy(path, tool="t") as copy:
            keep(copy, ADMITTED)
        assert {entry.name: entry.read_bytes() for entry in path.parent.iterdir()} == before

    def test_what_was_kept_survives_a_kill(self, path: Path) -> None:
        program = textwrap.dedent(
            """
            import os, signal, sys
            from pathlib import Path
            from miner.ledger import Ledger
            from tests.miner.test_ledger import ADMITTED, keep, refused

            ledger = Ledger.open(Path(sys.argv[1]), tool="t")
            keep(ledger, ADMITTED)

            def rows():
                yield refused(1)
                os.kill(os.getpid(), signal.SIGKILL)

            ledger.refused("r", "c", rows())
            """
        )
        root = Path(__file__).parents[2]
        ended = subprocess.run([sys.executable, "-c", program, str(path)], cwd=root, check=False)
        assert ended.returncode == -signal.SIGKILL
        with Ledger.open(path, tool="t") as ledger:
            assert list(ledger.latest()) == [ADMITTED]
