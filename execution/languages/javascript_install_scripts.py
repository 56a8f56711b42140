"""Scripts that dependencies run when they are installed: which have any that a test could need, and how they are run.

An install leaves all scripts out, since the root's own (``prepare``) would build from the head's sources what the base
would then be handed. Those of dependencies are run after it, each package by its name: native modules are useless
without. What only greets, hooks git or fetches a browser is never run.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

MODULES: Final = "node_modules"
_SCRIPTS: Final = ("preinstall", "install", "postinstall")
# More than this have their scripts left out: such a tree is an application with half the registry in it.
MOST: Final = 12
_NEVER: Final = re.compile(
    r"(?:husky|simple-git-hooks|yorkie|lefthook|pre-commit|ghooks|core-js(?:-pure|-bundle)?|es5-ext|nodemon|protobufjs"
    r"|opencollective(?:-postinstall)?|styled-components|cypress|electron|puppeteer(?:-core)?|playwright(?:-\w+)?"
    r"|@playwright/\S+|chromedriver|geckodriver|edgedriver|selenium-\S+|fsevents|ngrok|@sentry/cli|netlify-cli|nx|lerna"
    r"|@nestjs/core|@angular/cli|ember-\S+|snyk|@swc/core|@parcel/watcher|unrs-resolver|msw|iltorb|spawn-sync"
    r"|phantomjs(?:-prebuilt)?|slimerjs\S*|saucelabs|sauce-connect-launcher|@mapbox/\S+)"
)
_GREETS: Final = re.compile(r"^\s*(?:echo\b|node -e|opencollective|husky|true\b|exit 0|npx only-allow|is-ci)")


def scripted_packages(tree: Path) -> tuple[str, ...]:
    """Return the names of installed packages whose install scripts a test may need, sorted; ``tree`` is on the host."""
    found = {name for folder in _packages(tree / MODULES) if (name := _scripted(folder))}
    return tuple(sorted(found))


def rebuild_command(rebuild: str, names: tuple[str, ...], *, with_headers: bool) -> str:
    """Return the shell command that runs the install scripts of packages; ``rebuild`` is the package manager's own.

    ``with_headers`` says that node's headers lie beside it, so that none need be fetched.
    """
    headers = 'npm_config_nodedir="$(dirname "$(dirname "$(command -v node)")")" ' if with_headers else ""
    return f"{headers}{rebuild} {' '.join(names)}"


def _packages(modules: Path) -> Iterator[Path]:
    """Give the folder of every package below a node_modules folder, those of pnpm's store and nested ones included."""
    if not modules.is_dir() or modules.is_symlink():
        return
    for entry in sorted(os.scandir(modules), key=lambda entry: entry.name):
        folder = Path(entry.path)
        if not entry.is_dir(follow_symlinks=False):
            continue
        if entry.name == ".pnpm":
            for place in sorted(folder.iterdir()):
                yield from _packages(place / MODULES)
        elif entry.name.startswith("@"):
            for inner in sorted(folder.iterdir()):
                yield from _one(inner)
        elif not entry.name.startswith("."):
            yield from _one(folder)


def _one(folder: Path) -> Iterator[Path]:
    if folder.is_dir() and not folder.is_symlink():
        yield folder
        yield from _packages(folder / MODULES)


def _scripted(folder: Path) -> str:
    try:
        document = json.loads((folder / "package.json").read_bytes())
    except (OSError, ValueError):
        # A folder without a manifest is no package: caches and leftovers lie there too.
        return ""
    name = document.get("name") if isinstance(document, dict) else None
    if not isinstance(name, str) or not re.fullmatch(r"(?:@[\w.-]+/)?[\w.-]+", name) or _NEVER.fullmatch(name):
        return ""
    if name == "esbuild" and document.get("optionalDependencies"):
        # Its program comes as a package of its own by now; the script only looks whether it starts.
        return ""
    scripts = document.get("scripts")
    texts = [scripts[key] for key in _SCRIPTS if isinstance(scripts, dict) and isinstance(scripts.get(key), str)]
    asked = any(not _GREETS.search(text) for text in texts)
    return name if asked or (folder / "binding.gyp").is_file() else ""
