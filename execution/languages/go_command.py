"""The shell commands of a Go case: set-up in a plain clone, the check, and the check with our reader at its end. Pure.

What each setting is for:

- ``GOTOOLCHAIN=local``: the toolchain that is here, never one that ``go`` downloads in its place.
- ``-modfile``: the head's ``go.mod`` and ``go.sum`` serve both states, whatever the base has. Not with a workspace or
  a vendor folder, where Go does not take it; there the tree's own files count.
- ``GOMODCACHE``, ``GOCACHE``: modules and compiled packages are the environment's own. Set-up compiles ahead, since
  Go's library alone can take a minute.
- ``GOFLAGS``, ``GOENV=off``, ``GOPROXY=off``, ``GOWORK=off``: nothing of whoever runs the check changes it.
- ``GOSUMDB=off`` in set-up: ``go.sum`` holds the hashes, so no server has to be asked for them.
- ``-vet=off``: vet judges sources, and each release judges more. ``-count=1``: no result of an earlier run.
- ``-p=1``: one package's tests at a time. ``-buildvcs=false``: a test binary does not depend on the clone.
"""

from __future__ import annotations

import json
import shlex
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from execution.languages.base import Check
from execution.languages.go_module import Mode
from execution.languages.go_runtime import numbers
from execution.recipe import Recipe
from execution.reports import gotest
from execution.sandbox import ENVIRONMENT_DIR, REPORT_FD

RUNNER: Final = "go-test"
REPORT_FORMAT: Final = "gotest"
REPORT_FILE: Final = "../report.json"
# Go's own limit is ten minutes a package; ours is shorter in nearly all cases and ends the run from outside.
_TIMEOUT: Final = "-timeout=30m"
_WRITABLE_CACHE: Final = "/tmp/go-build"  # noqa: S108 - the private /tmp of the sandbox, not the host's
# A run gets a build cache of its own that holds links to what was compiled ahead: what is new is written beside them.
_OBSERVER: Final = (
    f"printf '%s\\n' \"$1\" >&{REPORT_FD} && cp -rs {ENVIRONMENT_DIR}/build {_WRITABLE_CACHE} || exit 125\n"
)
# How long a word of a command may be, with room to spare: Linux gives 128 KiB to one.
MOST_NAMES: Final = 90_000


@dataclass(frozen=True, kw_only=True, slots=True)
class GradedFile:
    """A graded file: the import path of its package, the package's folder from where ``go`` runs, its tests."""

    package: str
    folder: str
    names: tuple[str, ...]


def encode(graded: Mapping[str, GradedFile]) -> str:
    """Return graded files as a setting of a recipe."""
    return json.dumps({path: [one.package, one.folder, list(one.names)] for path, one in graded.items()})


def decode(setting: str) -> Mapping[str, GradedFile]:
    """Return what ``encode`` wrote."""
    rows: dict[str, tuple[str, str, list[str]]] = json.loads(setting)
    return {
        path: GradedFile(package=package, folder=folder, names=tuple(names))
        for path, (package, folder, names) in rows.items()
    }


def build_check(recipe: Recipe, files: tuple[str, ...]) -> Check:
    """Return the check of the graded files, to be run in ``recipe.directory``."""
    graded = decode(recipe.setting("graded"))
    kept = {path: graded[path] for path in files}
    variables = [*_places(recipe, build=f"{_WRITABLE_CACHE}"), *_closed(recipe)]
    observed = _script(variables, _calls(recipe, kept), f">&{REPORT_FD} {REPORT_FD}>&-")
    recorded = [*_places(recipe), *_closed(recipe)]
    return Check(
        command=_script(recorded, _calls(recipe, kept), f"> {_up(recipe)}{REPORT_FILE}"),
        report_file=REPORT_FILE,
        report_format=REPORT_FORMAT,
        observed=("sh", "-c", _OBSERVER + observed, "sh", gotest.header(_declared(kept))),
        notes=("go test: no vet, one package at a time, no test but those that the graded files declare",),
    )


def recorded_check(command: str) -> Check:
    """Return the check that a recorded command stands for; its ``observed`` is empty."""
    return Check(command=command, report_file=REPORT_FILE, report_format=REPORT_FORMAT, observed=())


def module_files(recipe: Recipe) -> tuple[str, str]:
    """Return the paths of ``go.mod`` and ``go.sum``, the second empty where there is none."""
    prefix = "" if recipe.directory == "." else f"{recipe.directory}/"
    return f"{prefix}go.mod", f"{prefix}go.sum" if recipe.setting("sum") else ""


def take_files(recipe: Recipe, read: str) -> str:
    """Return the command that puts the head's ``go.mod`` and ``go.sum`` into the environment, from the tree's root.

    A tree from before modules gets a ``go.mod`` of its own, which stays there beside its files.
    ``read`` is what writes a file of the head to standard output when a quoted path follows it.
    """
    parts = ["mkdir -p ../env"]
    if recipe.setting("mode") == Mode.MODULE:
        files = filter(None, module_files(recipe))
        parts += [f"{read}{shlex.quote(path)} > ../env/{path.rpartition('/')[2]}" for path in files]
    if recipe.setting("mode") == Mode.BARE:
        parts.append(f"echo {shlex.quote('module ' + recipe.setting('module'))} > go.mod")
    return " && ".join(parts)


def download(recipe: Recipe) -> str:
    """Return the command that downloads every module that the build may ask for; empty where there is none."""
    if not recipe.setting("requires") or recipe.setting("mode") == Mode.VENDOR:
        return ""
    words = ["go", "mod", "download", *_modfile(recipe)]
    # A cache that its owner can't delete would be in the way of whoever cleans up.
    return _in_directory(recipe, ["GOFLAGS=-modcacherw", *_places(recipe), *_local(recipe), "GOSUMDB=off"], words)


def compile_ahead(recipe: Recipe) -> str:
    """Return the command that compiles the tree's packages, their tests' and all that they import.

    A package that does not compile is told of again by the check; here it is passed over.
    """
    words = ["go", "list", "-e", "-export", "-deps", "-test", *_flags(recipe), *_modfile(recipe), "./..."]
    variables = ["GOFLAGS=-modcacherw", *_places(recipe), *_local(recipe), "GOSUMDB=off", _c(recipe)]
    return f"{_in_directory(recipe, variables, words, '> /dev/null')} || true"


def list_modules(recipe: Recipe) -> str:
    """Return the command that writes ``module@version`` of what the build uses to ``modules.txt``, a line each."""
    shape = "{{with .Module}}{{if .Version}}{{.Path}}@{{.Version}}{{end}}{{end}}"
    words = ["go", "list", "-e", "-deps", "-test", "-f", shape, *_flags(recipe), *_modfile(recipe), "./..."]
    variables = ["GOFLAGS=", *_places(recipe), *_closed(recipe)[1:]]
    return _in_directory(recipe, variables, words, f"> {_up(recipe)}../env/modules.txt")


def setup_commands(recipe: Recipe) -> tuple[str, ...]:
    """Return what a stranger runs in a plain clone, with git and go."""
    taken = take_files(recipe, f"git cat-file blob {recipe.setting('head_commit')}:")
    return tuple(command for command in (taken, download(recipe), compile_ahead(recipe)) if command)


def _declared(graded: Mapping[str, GradedFile]) -> gotest.Graded:
    found: dict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
    for path, one in graded.items():
        for name in one.names:
            found[one.package][name] = (*found[one.package].get(name, ()), path)
    return found


def _calls(recipe: Recipe, graded: Mapping[str, GradedFile]) -> list[str]:
    """Return one call for each package: in a common one a test of another package's name would be run too."""
    names: dict[str, dict[str, None]] = defaultdict(dict)
    for one in graded.values():
        # Without a name there is nothing to run: the constraints of such a file do not hold here.
        if one.names:
            names[one.folder] |= dict.fromkeys(one.names)
    options = ["-json", "-count=1", "-vet=off", "-p=1", _TIMEOUT, *_flags(recipe), *_modfile(recipe)]
    return [
        shlex.join(["go", "test", *options, f"-run=^({'|'.join(wanted)})$", folder]) for folder, wanted in names.items()
    ]


def _script(variables: Sequence[str], calls: Sequence[str], redirection: str) -> str:
    if len(calls) == 1:
        return f"{' '.join(variables)} {calls[0]} {redirection}"
    tried = "; ".join(f"{call} || code=$?" for call in calls)
    return f"export {' '.join(variables)}; code=0; {{ {tried}; }} {redirection}; exit $code"


def _in_directory(recipe: Recipe, variables: Sequence[str], words: Sequence[str], redirection: str = "") -> str:
    """Return a command of set-up, which starts in the tree's root."""
    command = " ".join([*variables, shlex.join(words), *([redirection] if redirection else [])])
    return command if recipe.directory == "." else f"(cd {shlex.quote(recipe.directory)} && {command})"


def _up(recipe: Recipe) -> str:
    """Return the way from the case's directory to the tree's root."""
    return "" if recipe.directory == "." else "../" * (recipe.directory.count("/") + 1)


def _places(recipe: Recipe, *, build: str = "") -> list[str]:
    environment = f"$PWD/{_up(recipe)}../env"
    return [f'GOMODCACHE="{environment}/modules"', f"GOCACHE={build}" if build else f'GOCACHE="{environment}/build"']


def _local(recipe: Recipe) -> list[str]:
    alone = [] if recipe.setting("mode") == Mode.WORKSPACE else ["GOWORK=off"]
    return [*alone, "GOTOOLCHAIN=local"]


def _closed(recipe: Recipe) -> list[str]:
    return ["GOFLAGS=", "GOENV=off", "GOPROXY=off", *_local(recipe), _c(recipe)]


def _c(recipe: Recipe) -> str:
    return f"CGO_ENABLED={'1' if recipe.setting('c') else '0'}"


def _modfile(recipe: Recipe) -> list[str]:
    return [f"-modfile={_up(recipe)}../env/go.mod"] if recipe.setting("mode") == Mode.MODULE else []


def _flags(recipe: Recipe) -> list[str]:
    flags = ["-mod=vendor"] if recipe.setting("mode") == Mode.VENDOR else []
    if numbers(recipe.runtime.version) >= (1, 18):
        flags.append("-buildvcs=false")
    tags = recipe.setting("tags")
    return [*flags, f"-tags={tags}"] if tags else flags
