"""The commands of runners that are started once for each graded file: mocha, ava, uvu and tape. Pure.

mocha and uvu run all their files in one process, which a file that does not load ends before any test: started file by
file, it says nothing of the others. ava names its files in its report only when there are several, and cut short; tape
names none at all. A plain ``# file PATH`` before each file's report says which one it is.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Final

from execution.sandbox import REPORT_FD, TOOLS_DIR

MOCHA: Final = "mocha"
AVA: Final = "ava"
UVU: Final = "uvu"
TAPE: Final = "tape"
EACH_FILE: Final = (MOCHA, AVA, UVU, TAPE)

# By runner: the format of the recorded report and its file beside the clone (uvu has no report, only its output).
RECORDED: Final = {
    MOCHA: ("mocha-xunit", "../report.xml"),
    AVA: ("ava-tap", "../report.tap"),
    UVU: ("uvu-output", ""),
    TAPE: ("tape-tap", "../report.tap"),
}
# A descriptor has a path that any process of the run can open: mocha starts a child for options of node, and node hands
# a child nothing but its standard streams.
_PIPE: Final = f"/proc/$$/fd/{REPORT_FD}"
_VARIABLE: Final = '"$file"'
# Stands in an option of ``Start`` for the file at hand.
THE_FILE: Final = "{file}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Start:
    """How a runner is started on a file that the words do not hold yet; all of it is quoted for ``sh``.

    ``assignments`` are variables before the command, ``words`` the command up to its own options, ``options`` the rest.
    """

    runner: str
    assignments: tuple[str, ...]
    words: tuple[str, ...]
    options: tuple[str, ...]


def recorded_command(start: Start, files: tuple[str, ...], directory: str) -> str:
    """Return what a case records. ``files`` are seen from ``directory`` (of the tree), where the command is run."""
    match start.runner:
        case "mocha":
            return _recorded_mocha(start, files, directory)
        case "uvu":
            return _each(_line(start), files)
        case _:
            report = _above(directory) + RECORDED[start.runner][1]
            if len(files) == 1:
                mark = _mark(directory).replace(_VARIABLE, shlex.quote(files[0]))
                return f"{{ {mark}; {_line(start, shlex.quote(files[0]))}; }} > {report}"
            return _each(_line(start), files, before=_mark(directory), redirect=f" > {report}")


def observed_command(start: Start, files: tuple[str, ...], directory: str) -> str:
    """Return the same run with its report on REPORT_FD, marked so that ``execution.reports.by_file`` reads it."""
    line = _line(_watched(start))
    if start.runner in {AVA, TAPE}:
        line += f" >&{REPORT_FD}"
    mark = f"{_mark(directory)} >&{REPORT_FD}"
    ended = f"status=$?; [ $status = 0 ] || code=$status; printf '\\n# exit %s\\n' $status >&{REPORT_FD}"
    names = shlex.join(files)
    return (
        f"echo '# runner {start.runner}' >&{REPORT_FD}; "
        f"code=0; for file in {names}; do {mark}; {line}; {ended}; done; (exit $code)"
    )


def _watched(start: Start) -> Start:
    match start.runner:
        case "mocha":
            reporter = (f"--reporter={TOOLS_DIR}/mocha_events.cjs", f'--reporter-option="report={_PIPE}"')
            return Start(
                runner=start.runner,
                assignments=start.assignments,
                words=(*start.words, *reporter),
                options=start.options,
            )
        case "uvu":
            preload = ("-r", f"{TOOLS_DIR}/uvu_events.cjs")
            return Start(
                runner=start.runner,
                assignments=start.assignments,
                words=(*start.words, *preload),
                options=start.options,
            )
        case _:
            return start


def _recorded_mocha(start: Start, files: tuple[str, ...], directory: str) -> str:
    above = _above(directory)

    def line(report: str, file: str) -> str:
        words = (*start.words, "--reporter=xunit", f"--reporter-option output={report}")
        return " ".join((*start.assignments, *words, *_options(start, file), file))

    if len(files) == 1:
        return line(f"{above}../report.xml", shlex.quote(files[0]))
    one, report = f"{above}../one.xml", f"{above}../report.xml"
    steps = f"rm -f {one}; {line(one, _VARIABLE)} || code=$?; {{ {_mark(directory)}; cat {one}; }} >> {report}"
    return f"rm -f {report}; code=0; for file in {shlex.join(files)}; do {steps}; done; (exit $code)"


def _line(start: Start, file: str = _VARIABLE) -> str:
    return " ".join((*start.assignments, *start.words, *_options(start, file), file))


def _options(start: Start, file: str) -> tuple[str, ...]:
    """Return the options, with the file put in where one of them speaks of it."""
    return tuple(option.replace(THE_FILE, file) for option in start.options)


def _each(line: str, files: tuple[str, ...], *, before: str = "", redirect: str = "") -> str:
    if len(files) == 1 and not redirect:
        return line.replace(_VARIABLE, shlex.quote(files[0]))
    steps = "; ".join(step for step in (before, f"{line} || code=$?") if step)
    return f"code=0; for file in {shlex.join(files)}; do {steps}; done{redirect}; (exit $code)"


def _mark(directory: str) -> str:
    prefix = "" if directory == "." else f"{directory}/".replace("%", "%%")
    return "printf " + shlex.quote(f"\\n# file {prefix}%s\\n") + f" {_VARIABLE}"


def _above(directory: str) -> str:
    return "" if directory == "." else "../" * (directory.count("/") + 1)
