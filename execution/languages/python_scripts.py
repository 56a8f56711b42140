"""What can be read out of ``setup.py`` and ``noxfile.py`` without running them: literal arguments of known calls. Pure.

A value that is computed is left out; where dependencies are computed, the resolver asks the build back-end itself.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True, slots=True)
class SetupScript:
    """The literal parts of a call of ``setup``: requirements by argument, extras, and every path-like string."""

    requires: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    extras: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    python_requires: str = ""
    classifiers: tuple[str, ...] = ()
    version: str = ""
    uses_scm: bool = False
    uses_pbr: bool = False
    strings: tuple[str, ...] = ()


def parse(source: str) -> ast.Module | None:
    """Parse a script, or give None when it is written for another Python."""
    try:
        with warnings.catch_warnings():
            # An old script's invalid escape is no news for the user of this program.
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return None


def read_setup_script(source: str) -> SetupScript:
    """Read a ``setup.py``."""
    tree = parse(source)
    if tree is None:
        return SetupScript()
    names = {
        target.id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    keywords = {
        word.arg: names.get(word.value.id, word.value) if isinstance(word.value, ast.Name) else word.value
        for call in _calls(tree, "setup")
        for word in call.keywords
        if word.arg
    }
    extras = _literal(keywords.get("extras_require"))
    version, requires = _literal(keywords.get("version")), _literal(keywords.get("python_requires"))
    return SetupScript(
        requires={
            name: _texts(_literal(keywords.get(name)))
            for name in ("install_requires", "tests_require", "setup_requires")
        },
        extras={str(name): _texts(value) for name, value in extras.items()} if isinstance(extras, dict) else {},
        python_requires=requires if isinstance(requires, str) else "",
        classifiers=_texts(_literal(keywords.get("classifiers"))),
        version=version if isinstance(version, str) else "",
        uses_scm="use_scm_version" in keywords,
        uses_pbr="pbr" in keywords,
        strings=tuple(
            node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ),
    )


def installs_of_sessions(source: str) -> Mapping[str, tuple[str, ...]]:
    """Return what each session of a ``noxfile.py`` installs, as far as the arguments are literal."""
    tree = parse(source)
    if tree is None:
        return {}
    return {
        node.name: tuple(
            word
            for call in _calls(node, "install")
            for argument in call.args
            if isinstance(word := _literal(argument), str)
        )
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
    }


def module_value(source: str, name: str) -> str:
    """Return the literal that a module assigns to a name, empty when it is computed or absent."""
    tree = parse(source)
    for node in tree.body if tree is not None else ():
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            return repr(_literal(value)) if _literal(value) is not None else ""
    return ""


def imported_modules(source: str) -> frozenset[str]:
    """Return the first parts of all module names that a file imports, empty when it can't be parsed."""
    tree = parse(source)
    found: set[str] = set()
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return frozenset(found)


def _calls(tree: ast.AST, name: str) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func
            if getattr(called, "attr", None) == name or getattr(called, "id", None) == name:
                yield node


def _literal(node: ast.expr | None) -> object:
    if node is None:
        return None
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, MemoryError, RecursionError):
        return None


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(line.strip() for line in value.splitlines() if line.strip())
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list | tuple) else ()
