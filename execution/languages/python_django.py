"""Django projects whose tests are started by ``manage.py test`` or a ``runtests.py``: pytest runs them.

Their test cases are unittest's and need nothing of the command but the settings that it names; ``pytest-django`` takes
the same name as an option. Pure reading.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass

from execution.languages.base import TreeReader
from execution.languages.python_project import read_text
from execution.languages.python_scripts import imported_modules

PLUGIN = "pytest-django"
_SCRIPTS = ("manage.py", "runtests.py", "tests/manage.py", "tests/runtests.py", "run_tests.py", "quicktest.py")
_SETTINGS = re.compile(r"DJANGO_SETTINGS_MODULE[\"']\s*(?:,|\]\s*=)\s*[\"']([A-Za-z_][\w.]*)[\"']")
_OWN_WAY = re.compile(r"settings\.configure\(|DJANGO_SETTINGS_MODULE|django\.setup\(")


@dataclass(frozen=True, kw_only=True, slots=True)
class DjangoSuite:
    """A suite of Django's own runner: the script that starts it, and the settings that it names, empty if computed."""

    script: str
    settings: str


def django_suite(tree: TreeReader, directory: str, graded: tuple[str, ...]) -> DjangoSuite | None:
    """Return how Django's runner is started, or None where the graded files have nothing to do with it.

    ``directory`` is the project's folder. A suite that sets Django up itself, in a conftest or in its package, needs no
    runner's help.
    """
    if not any("django" in imported_modules(read_text(tree, path) or "") for path in graded):
        return None
    for path in graded:
        folder = posixpath.dirname(path)
        while True:
            for name in ("conftest.py", "__init__.py"):
                if _OWN_WAY.search(read_text(tree, posixpath.join(folder, name)) or ""):
                    return None
            if not folder:
                break
            folder = posixpath.dirname(folder)
    for script in _SCRIPTS:
        path = posixpath.normpath(posixpath.join(directory, script))
        text = read_text(tree, path)
        if text is not None:
            named = _SETTINGS.search(text)
            return DjangoSuite(script=path, settings=named[1] if named else "")
    return None
