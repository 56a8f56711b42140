"""The release lines of node: when each came out, when it was for everyday use, and which npm came with it. Pure.

A table of ours, not a look at a registry: the same commit must get the same node on any day. Releases of a line differ
by more than fixes: each brings the time zones and the formats of its day, which suites hold their results against. So
a line has a release for each half-year of its life, out of those that the registry's own packages of node carry.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One line. ``released``, ``settled`` (long-term support began; of odd lines never) and ``ended`` are seconds, UTC.

    ``newest`` is the version that stands for the line, ``npm`` the one that came with it, ``name`` what ``lts/NAME``
    calls it. ``stands`` are (seconds, version): from that day on this release stands for the line.
    """

    major: int
    newest: str
    npm: str
    released: int
    settled: int | None
    ended: int
    name: str = ""
    stands: tuple[tuple[int, str], ...] = ()

    def release_at(self, date: int) -> str:
        """Return the release that stood for the line at a date (seconds, UTC); its first for one before."""
        known = [version for since, version in self.stands if since <= date]
        first = self.stands[0][1] if self.stands else self.newest
        return known[-1] if known else first


def _seconds(day: str) -> int:
    return int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp())


# Months and the newest release of each line in them.
_HALF_YEARS: Final = {
    10: "2020-07 10.21.0 2021-01 10.23.0",
    12: "2019-07 12.5.0 2020-01 12.14.0 2020-07 12.18.2 2021-01 12.20.0 2021-07 12.22.1 2022-01 12.22.8",
    14: "2020-07 14.5.0 2021-01 14.15.1 2021-07 14.17.1 2022-01 14.18.2 2022-07 14.19.3 2023-01 14.21.2",
    16: "2021-07 16.4.0 2022-01 16.13.1 2022-07 16.15.1 2023-01 16.19.0 2023-07 16.20.1",
    18: "2022-07 18.4.0 2023-01 18.12.1 2023-07 18.16.1 2024-01 18.19.0 2024-07 18.20.3 2025-01 18.20.5",
    20: "2023-07 20.3.1 2024-01 20.10.0 2024-07 20.15.0 2025-01 20.18.1 "
    "2025-07 20.19.3 2026-01 20.19.6 2026-07 20.20.2",
    22: "2024-07 22.3.0 2025-01 22.12.0 2025-07 22.17.0 2026-01 22.21.1 2026-07 22.23.0",
    24: "2025-07 24.3.0 2026-01 24.12.0 2026-07 24.18.0",
    26: "2026-07 26.4.0",
}


def _line(major: int, newest: str, npm: str, days: str, name: str = "") -> Line:
    released, settled, ended = days.split()
    halves = _HALF_YEARS.get(major, "").split()
    return Line(
        major=major,
        newest=newest,
        npm=npm,
        released=_seconds(released),
        settled=None if settled == "never" else _seconds(settled),
        ended=_seconds(ended),
        name=name,
        stands=tuple(
            (_seconds(f"{month}-01"), version) for month, version in zip(halves[::2], halves[1::2], strict=True)
        ),
    )


LINES: Final = (
    _line(8, "8.17.0", "6.13.4", "2017-05-30 2017-10-31 2019-12-31", "carbon"),
    _line(10, "10.24.1", "6.14.12", "2018-04-24 2018-10-30 2021-04-30", "dubnium"),
    _line(11, "11.15.0", "6.7.0", "2018-10-23 never 2019-06-01"),
    _line(12, "12.22.12", "6.14.16", "2019-04-23 2019-10-21 2022-04-30", "erbium"),
    _line(13, "13.14.0", "6.14.4", "2019-10-22 never 2020-06-01"),
    _line(14, "14.21.3", "6.14.18", "2020-04-21 2020-10-27 2023-04-30", "fermium"),
    _line(15, "15.14.0", "7.7.6", "2020-10-20 never 2021-06-01"),
    _line(16, "16.20.2", "8.19.4", "2021-04-20 2021-10-26 2023-09-11", "gallium"),
    _line(17, "17.9.1", "8.11.0", "2021-10-19 never 2022-06-01"),
    _line(18, "18.20.8", "10.8.2", "2022-04-19 2022-10-25 2025-04-30", "hydrogen"),
    _line(19, "19.8.1", "9.5.1", "2022-10-18 never 2023-06-01"),
    _line(20, "20.20.2", "10.8.2", "2023-04-18 2023-10-24 2026-04-30", "iron"),
    _line(21, "21.7.3", "10.5.0", "2023-10-17 never 2024-06-01"),
    _line(22, "22.23.5", "10.9.4", "2024-04-24 2024-10-29 2027-04-30", "jod"),
    _line(23, "23.11.1", "10.9.2", "2024-10-16 never 2025-06-01"),
    _line(24, "24.22.3", "11.6.2", "2025-05-06 2025-10-28 2028-04-30", "krypton"),
    _line(25, "25.9.0", "11.6.2", "2025-10-15 never 2026-06-01"),
    _line(26, "26.12.1", "11.6.2", "2026-04-22 2026-10-28 2029-04-30"),
)


def line_of(major: int) -> Line | None:
    """Return a line by its number, or None for one that the table does not have."""
    return next((line for line in LINES if line.major == major), None)


def settled_line(date: int) -> Line:
    """Return the line that one would have taken at a date (seconds, UTC): the newest with long-term support."""
    settled = [line for line in LINES if line.settled is not None and line.settled <= date]
    return settled[-1] if settled else LINES[0]


def in_use(line: Line, date: int) -> bool:
    """Whether a line was for everyday use at a date: out since, and with fixes until then."""
    return line.settled is not None and line.released <= date < line.ended


def npm_for(version: str) -> str:
    """Return the npm that came with a node, by its line; the newest known for a line of later."""
    line = line_of(int(version.partition(".")[0]))
    return (line or LINES[-1]).npm
