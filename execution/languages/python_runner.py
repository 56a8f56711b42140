"""Which runner a suite is written for, which plugins its configuration demands, and what a check switches off. Pure."""

from __future__ import annotations

import ast
import fnmatch
import itertools
import posixpath
import re
import shlex
from collections.abc import Mapping
from typing import Final

from execution.languages.base import TreeReader
from execution.languages.python_project import PytestConfiguration, read_text
from execution.languages.python_scripts import imported_modules, parse

PYTEST: Final = "pytest"
UNITTEST: Final = "unittest"
# The last two are nose's: no runner of today looks for them, and both take them by name.
DEFAULT_PATTERNS = ("test_*.py", "*_test.py", "tests_*.py", "*_tests.py")
# Django and others name a module of tests so; both runners take it when it is given by name.
PLAIN_NAMES = frozenset({"tests.py"})

_SPEAKING_FILES = (
    "pytest.ini", ".pytest.ini", "pytest.toml", "tox.ini", "tox.toml", "setup.cfg", "setup.py", "pyproject.toml",
    "noxfile.py",
    "Makefile", "justfile", "Pipfile", ".travis.yml", "appveyor.yml", ".appveyor.yml", ".gitlab-ci.yml",
    "azure-pipelines.yml",
    ".circleci/config.yml", "hatch.toml",
)  # fmt: skip
_SPEAKING_PATTERNS = (".github/workflows/*", "*requirements*.txt", "requirements/*", "*requirements*.in")
_SPEAKS = re.compile(r"\bpy\.?test\b")

# What a configuration can't be without, by option of the command line, by plugin after ``-p`` and by key of the file.
_PLUGIN_OF_OPTION: Mapping[str, str] = {
    "--cov": "pytest-cov", "--no-cov": "pytest-cov", "-n": "pytest-xdist", "--numprocesses": "pytest-xdist",
    "--dist": "pytest-xdist", "--maxprocesses": "pytest-xdist", "--tx": "pytest-xdist", "--boxed": "pytest-xdist",
    "--timeout": "pytest-timeout", "--session-timeout": "pytest-timeout", "--asyncio": "pytest-asyncio",
    "--benchmark": "pytest-benchmark", "--reruns": "pytest-rerunfailures", "--only-rerun": "pytest-rerunfailures",
    "--rerun-except": "pytest-rerunfailures", "--retries": "pytest-retry", "--randomly": "pytest-randomly",
    "--random-order": "pytest-random-order", "--order": "pytest-order", "--disable-socket": "pytest-socket",
    "--allow-hosts": "pytest-socket", "--allow-unix-socket": "pytest-socket", "--forked": "pytest-forked",
    "--html": "pytest-html", "--self-contained-html": "pytest-html", "--json-report": "pytest-json-report",
    "--ds": "pytest-django", "--dc": "pytest-django", "--reuse-db": "pytest-django", "--create-db": "pytest-django",
    "--nomigrations": "pytest-django", "--no-migrations": "pytest-django", "--migrations": "pytest-django",
    "--fail-on-template-vars": "pytest-django", "--typeguard-packages": "typeguard",
    "--jaxtyping-packages": "jaxtyping", "--hypothesis": "hypothesis", "--snapshot": "syrupy",
    "--doctest-plus": "pytest-doctestplus", "--doctest-rst": "pytest-doctestplus",
    "--doctest-ufunc": "pytest-doctestplus", "--remote-data": "pytest-remotedata", "--arraydiff": "pytest-arraydiff",
    "--record-mode": "pytest-recording", "--block-network": "pytest-recording", "--vcr-record": "pytest-vcr",
    "--beartype-packages": "pytest-beartype", "--inline-snapshot": "inline-snapshot", "--picked": "pytest-picked",
    "--instafail": "pytest-instafail", "--mpl": "pytest-mpl",
    "--count": "pytest-repeat", "--xdoctest": "xdoctest", "--nbval": "nbval", "--nbmake": "nbmake",
    "--markdown-docs": "pytest-markdown-docs", "--memray": "pytest-memray", "--splits": "pytest-split",
    "--store-durations": "pytest-split", "--durations-path": "pytest-split", "--testmon": "pytest-testmon",
    "--force-sugar": "pytest-sugar",  "--clarity": "pytest-clarity",  "--force-regen": "pytest-regressions",
    "--parallel-threads": "pytest-run-parallel", "--envfile": "pytest-dotenv",
    "--asyncio-mode": "pytest-asyncio",     "--no-flaky-report": "flaky",
    "--force-flaky": "flaky", "--max-runs": "flaky", "--min-passes": "flaky",
}  # fmt: skip
_PLUGIN_OF_NAME: Mapping[str, str] = {
    "xdist": "pytest-xdist", "pytest_cov": "pytest-cov", "pytest_asyncio": "pytest-asyncio",
    "pytest_mock": "pytest-mock", "pytest_timeout": "pytest-timeout", "pytest_httpbin": "pytest-httpbin",
    "pytest_trio": "pytest-trio", "aiohttp.pytest_plugin": "aiohttp", "anyio": "anyio", "tornado": "pytest-tornado",
    "celery.contrib.pytest": "celery", "sybil": "sybil", "hypothesis": "hypothesis", "xdoctest": "xdoctest",
    "pytest_benchmark": "pytest-benchmark", "pytest_django": "pytest-django",
}  # fmt: skip
_PLUGIN_OF_KEY: Mapping[str, str] = {
    "asyncio_mode": "pytest-asyncio", "asyncio_default_fixture_loop_scope": "pytest-asyncio",
    "asyncio_default_test_loop_scope": "pytest-asyncio", "asyncio_debug": "pytest-asyncio",
    "timeout": "pytest-timeout", "timeout_method": "pytest-timeout", "timeout_func_only": "pytest-timeout",
    "session_timeout": "pytest-timeout", "django_settings_module": "pytest-django",
    "django_configuration": "pytest-django", "django_find_project": "pytest-django", "env": "pytest-env",
    "env_files": "pytest-dotenv", "mock_use_standalone_module": "pytest-mock",
    "mock_traceback_monkeypatch": "pytest-mock", "trio_mode": "pytest-trio", "anyio_mode": "anyio",
    "bdd_features_base_dir": "pytest-bdd", "qt_api": "pytest-qt", "mypy_testing_base": "pytest-mypy-plugins",
    "mypy_plugin_entry_point": "pytest-mypy-plugins", "doctest_plus": "pytest-doctestplus",
    "doctest_subpackage_requires": "pytest-doctestplus", "doctest_norecursedirs": "pytest-doctestplus",
    "remote_data_strict": "pytest-remotedata", "reruns": "pytest-rerunfailures",
    "reruns_delay": "pytest-rerunfailures", "retries": "pytest-retry", "beartype_packages": "pytest-beartype",
    "jaxtyping_packages": "jaxtyping",
    "python_paths": "pytest-pythonpath",
}  # fmt: skip
# Plugins that make items of their own beside the tests: what they say of the style of a file judges no behaviour.
_LINTERS = (
    "--flake8", "--isort", "--black", "--mypy", "--mypy-ignore-missing-imports", "--pylint", "--ruff", "--ruff-format",
    "--pep8", "--pycodestyle", "--codestyle", "--flakes", "--pydocstyle", "--docstyle", "--pylama", "--mccabe",
    "--bandit", "--vulture", "--eradicate", "--checkdocs", "--dead-fixtures", "--dup-fixtures",
    "--enabler",
)  # fmt: skip
_LINTER_PREFIXES = ("--pylint-", "--mypy-", "--flake8-", "--isort-", "--black-", "--ruff-", "--pylama-")


def choose_runner(
    tree: TreeReader, graded: tuple[str, ...], wanted: frozenset[str], asked: str = ""
) -> tuple[str, str]:
    """Return the runner and why. ``wanted`` are the canonical names of all distributions that the tests ask for.

    unittest is right only for a suite that never heard of pytest: the other way round nothing is lost but the
    verbatim ids.
    """
    if asked in {PYTEST, UNITTEST}:
        return asked, f"{asked}, as asked"
    if PYTEST in wanted:
        return PYTEST, "pytest, which the test dependencies name"
    if any(posixpath.basename(path) == b"conftest.py" for path in tree.paths):
        return PYTEST, "pytest, since there is a conftest.py"
    for path in sorted(tree.paths):
        name = path.decode("utf-8", "surrogateescape")
        speaking = name in _SPEAKING_FILES or any(fnmatch.fnmatchcase(name, one) for one in _SPEAKING_PATTERNS)
        if speaking and _SPEAKS.search(read_text(tree, name) or ""):
            return PYTEST, f"pytest, which {name} speaks of"
    for name in graded:
        if not is_unittest_style(read_text(tree, name) or ""):
            return PYTEST, f"pytest, since {name} is written for it"
    return UNITTEST, "unittest, since nothing speaks of pytest and the graded files are written for unittest"


def is_unittest_style(source: str) -> bool:
    """Tell whether a test file can be run by unittest: every test is a method of a class with a base."""
    tree = parse(source)
    if tree is None or PYTEST in imported_modules(source):
        return False
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    if any(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _is_test(node.name) for node in tree.body):
        return False
    return any(node.bases for node in classes) and not any(
        not node.bases and node.name.startswith("Test") and any(_is_test(name) for name in _methods(node))
        for node in classes
    )


def holds_tests(source: str, configuration: PytestConfiguration) -> bool:
    """Tell whether a file has something to run: files of types only, and lists of parameters, have not.

    In doubt (own naming rules, another Python's syntax, tests taken in from elsewhere) the answer is yes.
    """
    tree = parse(source)
    if tree is None or configuration.options.keys() & {"python_functions", "python_classes", "doctest_glob"}:
        return True
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (
            _is_test(node.name) or node.name == "load_tests"
        ):
            return True
        if isinstance(node, ast.ClassDef) and node.bases:
            return True
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id.lower().startswith("test"):
            return True
        if isinstance(node, ast.ImportFrom) and any(
            alias.name == "*" or (alias.asname or alias.name).lower().startswith("test") for alias in node.names
        ):
            return True
    return False


def is_test_name(path: str, configuration: PytestConfiguration) -> bool:
    """Tell whether a runner collects a file of this name, by the configured patterns or the usual ones."""
    name = posixpath.basename(path)
    if not name.endswith(".py") or name == "conftest.py" or is_left_out(path, configuration):
        return False
    patterns = (*configuration.words("python_files"), *DEFAULT_PATTERNS)
    # A pattern with a slash is matched against the whole path, as pytest does it.
    return name in PLAIN_NAMES or any(
        fnmatch.fnmatchcase(f"/{path}" if "/" in pattern else name, f"*{pattern}" if "/" in pattern else pattern)
        for pattern in patterns
        if pattern not in {"*", "*.py"}
    )


def own_options(tree: TreeReader) -> frozenset[str]:
    """Return the options of the command line that the tree's own conftest files add: no plugin is asked for those."""
    found: set[str] = set()
    for path in tree.paths:
        if posixpath.basename(path) == b"conftest.py":
            text = read_text(tree, path.decode("utf-8", "surrogateescape")) or ""
            found.update(re.findall(r"addoption\(\s*[\"'](--?[\w-]+)", text))
    return frozenset(found)


def is_left_out(path: str, configuration: PytestConfiguration) -> bool:
    """Tell whether the configuration keeps pytest out of a file's folder: what lies there are examples and data."""
    base = posixpath.dirname(configuration.path)
    inner = posixpath.relpath(path, base) if base else path
    parts = inner.split("/")
    folders = ["/".join(parts[: depth + 1]) for depth in range(len(parts) - 1)]
    for pattern in configuration.words("norecursedirs"):
        if any(fnmatch.fnmatchcase(*_matched(folder, pattern)) for folder in folders):
            return True
    ignored = [word.partition("=")[2].rstrip("/") for word in configuration.addopts if word.startswith("--ignore=")]
    return any(place in {*folders, inner} for place in ignored)


def _matched(folder: str, pattern: str) -> tuple[str, str]:
    """Return what pytest matches with what: a pattern with a slash the end of the path, any other the name alone."""
    return (f"/{folder}", f"*/{pattern}") if "/" in pattern else (posixpath.basename(folder), pattern)


def demanded_plugins(configuration: PytestConfiguration, own: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """Return the requirements that pytest would not start without, or would run the tests differently without.

    ``own`` are options that the tree adds itself (``own_options``).
    """
    return tuple(plugin_demands(configuration, own))


def plugin_demands(configuration: PytestConfiguration, own: frozenset[str] = frozenset()) -> Mapping[str, str]:
    """Return the same with what demands each: an option of ``addopts``, or a key of the configuration."""
    found: dict[str, str] = {}
    words, _ = without_linters(configuration.addopts)
    for word, following in itertools.zip_longest(words, words[1:], fillvalue=""):
        plugins = () if word.split("=")[0] in own else _PLUGIN_OF_OPTION.items()
        options = [plugin for option, plugin in plugins if _is_option(word, option)]
        name = following if word == "-p" else word.removeprefix("-p") if re.match(r"-p[a-z]", word) else ""
        for plugin in (*options[-1:], *([_PLUGIN_OF_NAME[name]] if name in _PLUGIN_OF_NAME else [])):
            found.setdefault(plugin, f"addopts of {configuration.path} has {word} {name}".rstrip())
    for key in configuration.options:
        if key.lower() in _PLUGIN_OF_KEY:
            found.setdefault(_PLUGIN_OF_KEY[key.lower()], f"{configuration.path} sets {key}")
    for plugin in configuration.words("required_plugins"):
        found.setdefault(plugin, f"required_plugins of {configuration.path}")
    return found


def without_linters(words: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the options without those that make a linter judge the files, and those that were taken out."""
    out = tuple(word for word in words if word.split("=")[0] in _LINTERS or word.startswith(_LINTER_PREFIXES))
    return tuple(word for word in words if word not in out), out


def _is_option(word: str, option: str) -> bool:
    if len(option) == 2:
        return bool(re.fullmatch(rf"{option}(?:\d+|auto|logical)?", word))
    return word == option or word.startswith((option + "=", option + "-"))


def check_options(
    configuration: PytestConfiguration, wanted: frozenset[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what a check adds to pytest's command line, and a note for each thing that it switches off.

    Switched off is what judges the suite and not its tests, and what makes two equal runs differ.
    """
    words, linters = without_linters(configuration.addopts)
    options = ["--continue-on-collection-errors", "-rX"]
    notes: list[str] = []
    if linters:
        options += ["-o", f"addopts={shlex.join(words)}"]
        notes.append(f"no linter runs as a test ({' '.join(linters)}): it judges the files, not their tests")
    cached = {"--lf", "--last-failed", "--ff", "--failed-first", "--nf", "--new-first", "--sw", "--stepwise"}
    if "cache_dir" not in configuration.options and not any(
        word.split("=")[0] in cached or word.startswith("--cache") for word in words
    ):
        options += ["-p", "no:cacheprovider"]
    if any(_is_option(word, "--cov") for word in words):
        options.append("--no-cov")
        notes.append("coverage is not measured: its threshold judges the suite, not the tests")
    if any(_is_option(word, option) for word in words for option in ("-n", "--numprocesses", "--dist")):
        options.append("-n0")
        notes.append("the tests run in one process: the order of parallel workers changes from run to run")
    if any(re.fullmatch(r"-[vqsl]*x[vqsxl]*|--exitfirst|--maxfail(=.*)?", word) for word in words):
        options.append("--maxfail=0")
        notes.append("the run does not stop at a failing test: what it would hide is needed")
    if "pytest-randomly" in wanted:
        if any("randomly" in word for word in words):
            options += ["--randomly-dont-reorganize", "--randomly-seed=0"]
        else:
            options += ["-p", "no:randomly"]
        notes.append("the tests run in the order in which they are written, without a seed of the day")
    if any(_is_option(word, "--random-order") for word in words):
        options.append("--random-order-seed=0")
        notes.append("the random order is drawn from one fixed seed")
    return tuple(options), tuple(notes)


def _is_test(name: str) -> bool:
    return name.startswith("test")


def _methods(node: ast.ClassDef) -> list[str]:
    return [item.name for item in node.body if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)]
