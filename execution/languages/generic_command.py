"""The user's test command: what its placeholders stand for, and how it is run so that its report can be trusted. Pure.

``{files}`` is replaced by the graded files (from the tree's root, quoted for ``sh``), ``{report}`` by a path from the
tree's root; a command that goes into a folder ``sub`` first says ``../{report}``. All other braces stay, the
shell's own ``${files}`` too.
"""

from __future__ import annotations

import re
import shlex
from typing import Final

REPORT_FILE: Final = "../report.xml"
_PLACEHOLDER: Final = re.compile(r"(?<!\$)\{(files|report)\}")

# The command is the recorded one to the letter, but a named pipe lies where its report goes, so that what was written
# can't be rewritten. Descriptor 3 alone would not do: npm, tox and many others close it for what they start. The pipe
# is opened for both ends before the command runs, so that neither end waits for the other, and a command may open it
# as often as it likes.
_OBSERVER: Final = f"""\
mkfifo {REPORT_FILE} && exec 4<>{REPORT_FILE} 5<{REPORT_FILE} || exit 125
cat <&5 >&3 3>&- 4>&- 5>&- &
exec 5<&-
sh -c "$1" 3>&- 4>&-
code=$?
exec 4>&-
wait
exit $code
"""


def filled(command: str, files: tuple[str, ...]) -> str:
    """Return the command with its placeholders replaced. A name that begins with ``-`` gets ``./`` before it."""
    names = shlex.join(f"./{path}" if path.startswith("-") else path for path in files)
    values = {"files": names, "report": REPORT_FILE}
    return _PLACEHOLDER.sub(lambda found: values[found[1]], command)


def wants_report(command: str) -> bool:
    """Whether a command says where its report goes."""
    return any(found[1] == "report" for found in _PLACEHOLDER.finditer(command))


def observed(command: str, *, with_report: bool) -> tuple[str, ...]:
    """Return how a filled command is run under observation: the same command, its report going to REPORT_FD."""
    return ("sh", "-c", _OBSERVER, "sh", command) if with_report else ("sh", "-c", command)
