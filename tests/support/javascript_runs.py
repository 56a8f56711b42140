"""Runs of JavaScript's runners as they are observed and as they are recorded, without the sandbox around them."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import execution
from execution.languages import javascript
from execution.languages.javascript_check import build_check
from execution.observation import ReportReading
from execution.recipe import Recipe, Runtime
from execution.sandbox import REPORT_FD, TOOLS_DIR

_RESOURCES = Path(execution.__file__).parent / "resources"


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """One run: what was read of it, its exit code and what it printed."""

    reading: ReportReading
    exit_code: int
    output: str

    @property
    def outcomes(self) -> dict[str, str]:
        """The outcome of each test by its id."""
        return {test.id: test.outcome.value for test in self.reading.tests}


def recipe_of(runner: str, directory: str = ".", **settings: str) -> Recipe:
    """Return a recipe as far as a check needs it."""
    node = Runtime(name="node", version="20.20.2", executable=Path("/usr/bin/node"), prefix=Path("/usr"))
    rows = tuple({"install_directory": ".", **settings}.items())
    return Recipe(language="javascript", runtime=node, runner=runner, date=0, directory=directory, settings=rows)


def observed(tree: Path, recipe: Recipe, files: tuple[str, ...]) -> Run:
    """Run the observed check in a tree, its report on REPORT_FD."""
    words = [word.replace(TOOLS_DIR, str(_RESOURCES)) for word in build_check(recipe, files).observed]
    report, write = tree.parent / "observed-report", tree.parent / "observed-output"
    # `exec` puts the pipe where the sandbox puts it, before the check's own shell starts.
    script = f'"$@" {REPORT_FD}>&1 >"$OUT" 2>&1 | cat > "$REPORT"; '
    inner = f"set -o pipefail; {script}"
    done = subprocess.run(
        ["bash", "-c", inner, "bash", *words],
        cwd=tree / recipe.directory,
        env=_environment() | {"OUT": str(write), "REPORT": str(report)},
        check=False,
        timeout=120,
    )
    output = write.read_bytes()
    reading = javascript.read(report.read_bytes(), done.returncode, files, output)
    return Run(reading=reading, exit_code=done.returncode, output=output.decode("utf-8", "replace"))


def recorded(tree: Path, recipe: Recipe, files: tuple[str, ...]) -> Run:
    """Run the recorded check in a tree; its report lies beside the tree."""
    check = build_check(recipe, files)
    done = subprocess.run(
        ["sh", "-c", check.command],
        cwd=tree / recipe.directory,
        env=_environment(),
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=120,
    )
    report = Path(os.path.normpath(tree / check.report_file)) if check.report_file else None
    data = report.read_bytes() if report is not None and report.exists() else b""
    reading = javascript.read_recorded(check, data, done.stdout)
    return Run(reading=reading, exit_code=done.returncode, output=done.stdout.decode("utf-8", "replace"))


def _environment() -> dict[str, str]:
    return {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent"}


def write_files(tree: Path, files: dict[str, str]) -> None:
    """Write files of a tree, with the folders that they need."""
    for path, text in files.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)


def has_node() -> bool:
    """Whether node and npm are on PATH."""
    return shutil.which("npm") is not None and shutil.which("node") is not None
