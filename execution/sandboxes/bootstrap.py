"""How the set-up program gets into an interpreter of its own, without a path of ours and without being compiled again.

The interpreter is started with a few lines of source; the set-up program's code, compiled here once, and its plan come
by a file descriptor. So nothing of the host is named on its command line, and a start costs no parsing.
"""

from __future__ import annotations

import functools
import marshal
import sys
from collections.abc import Mapping
from pathlib import Path

# In the order in which they import each other.
MODULES = ("kernel", "inside")
LOADER = """
import marshal, sys, types
with open(int(sys.argv[1]), "rb") as file:
    codes, plan = marshal.load(file)
for name in ("execution", "execution.sandboxes"):
    sys.modules[name] = types.ModuleType(name)
for name, code in codes:
    module = sys.modules[name] = types.ModuleType(name)
    exec(code, module.__dict__)
module.main(plan)
"""


def command(fd: int) -> tuple[str, ...]:
    """Return the command that runs the set-up program, whose code and plan are read from a descriptor."""
    # -I and -S: neither the environment nor a site-packages folder has a say.
    return sys.executable, "-I", "-S", "-X", "utf8", "-c", LOADER, str(fd)


def content(plan: Mapping[str, object]) -> bytes:
    """Return what that descriptor holds."""
    return marshal.dumps((_codes(), dict(plan)))


@functools.cache
def _codes() -> list[tuple[str, object]]:
    codes: list[tuple[str, object]] = []
    for name in MODULES:
        path = Path(__file__).with_name(f"{name}.py")
        codes.append((f"execution.sandboxes.{name}", compile(path.read_bytes(), path.name, "exec", dont_inherit=True)))
    return codes
