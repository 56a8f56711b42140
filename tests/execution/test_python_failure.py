"""What logs of failed set-ups mean; the excerpts are of builds that were run for this, with folders left out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from casewright.errors import InfrastructureError
from execution.languages.base import Refusal
from execution.languages.python_failure import failure, missing_tools
from execution.sandbox import Ended, SandboxOutcome

UV_BUILD = """error: Failed to build `{0}`
  cause: The build backend returned an error
  cause: Call to `setuptools.build_meta:__legacy__.build_wheel` failed (exit status: 1)

         [stderr]
"""
LDAP = (
    UV_BUILD.format("python-ldap==3.4.0")
    + """\
         In file included from Modules/LDAPObject.c:3:
         Modules/common.h:15:10: fatal error: lber.h: No such file or directory
            15 | #include <lber.h>
         compilation terminated.
         error: command '/usr/bin/gcc' failed with exit code 1

hint: This error likely indicates that you need to install a library that provides `lber.h` for `python-ldap@3.4.0`
"""
)
MYSQL = (
    UV_BUILD.format("mysqlclient==2.1.0")
    + """\
         /bin/sh: 1: mysql_config: not found
         /bin/sh: 1: mariadb_config: not found
         OSError: mysql_config not found
"""
)
CAIRO = (
    UV_BUILD.format("pycairo==1.20.0")
    + """\
         Package cairo was not found in the pkg-config search path.
         Perhaps you should add the directory containing `cairo.pc'
         No package 'cairo' found
"""
)
GRAPHVIZ = (
    UV_BUILD.format("pygraphviz==1.11")
    + """\
         pygraphviz/graphviz_wrap.c:3020:10: fatal error: graphviz/cgraph.h: No such file or directory
         error: command '/usr/bin/gcc' failed with exit code 1
"""
)
POSTGRES = (
    UV_BUILD.format("psycopg2==2.9.9")
    + """\
         Error: pg_config executable not found.

         pg_config is required to build psycopg2 from source.  Please add the directory
         containing pg_config to the $PATH or specify the full executable path
"""
)
NO_COMPILER = UV_BUILD.format("box==1") + "         error: command 'gcc' failed: No such file or directory\n"
FFI = (
    UV_BUILD.format("cffi==1.14") + "         c/_cffi_backend.c:15:10: fatal error: ffi.h: No such file or directory\n"
)
XML = "Error: Please make sure the libxml2 and libxslt development packages are installed.\n"
OWN_HEADER = "box.c:1:10: fatal error: zorp/zorp.h: No such file or directory\ncompilation terminated.\n"
TOO_OLD = (
    UV_BUILD.format("lxml==4.6.3")
    + """\
         src/lxml/etree.c:289:12: fatal error: longintrepr.h: No such file or directory
         error: command '/usr/bin/gcc' failed with exit code 1

hint: This error likely indicates that you need to install a library that provides `longintrepr.h` for `lxml@4.6.3`
"""
)
PYTHON_2 = """error: The build backend returned an error
  cause: Call to `setuptools.build_meta:__legacy__.get_requires_for_build_wheel` failed (exit status: 1)

         [stderr]
           File "<string>", line 1
             print 'hello'
             ^^^^^^^^^^^^^
         SyntaxError: Missing parentheses in call to 'print'. Did you mean print(...)?
"""
CONFLICT = """error: No solution found when resolving dependencies
  cause: Because flask==2.0.0 depends on click>=7.1.2 and you require flask==2.0.0, we can conclude that you require \
click>=7.1.2.
         And because you require click==7.0, we can conclude that your requirements are unsatisfiable.
"""
ABSENT = """error: No solution found when resolving dependencies
  cause: Because no-such-thing was not found in the package registry and you require no-such-thing, we can conclude \
that your requirements are unsatisfiable.
"""
NOT_THEN = """error: No solution found when resolving dependencies
  cause: Because there is no version of numpy==2.3.0 and you require numpy==2.3.0, we can conclude that your \
requirements are unsatisfiable.
"""
NEWER_PYTHON = """error: No solution found when resolving dependencies
  cause: Because the current Python version (3.10.13) does not satisfy Python>=3.11 and numpy==2.3.0 depends on \
Python>=3.11, we can conclude that numpy==2.3.0 cannot be used.
"""
USE_2TO3 = UV_BUILD.format("old==1") + "         error in old setup command: use_2to3 is invalid.\n"
NO_DISTUTILS = UV_BUILD.format("old==1") + "         ModuleNotFoundError: No module named 'distutils'\n"
PRIVATE = "error: Failed to fetch: `simple/box/`\n  cause: HTTP status client error (401 Unauthorized) for url\n"


def refused(log: str, ended: Ended = Ended.EXITED) -> Refusal:
    return failure("build dependencies from source", outcome(log, ended))


def outcome(log: str, ended: Ended = Ended.EXITED) -> SandboxOutcome:
    return SandboxOutcome(
        ended=ended,
        exit_code=1,
        output=log.encode(),
        output_bytes=len(log),
        report=b"",
        milliseconds=0,
        peak_memory_kb=0,
        memory_by="",
    )


@pytest.mark.parametrize(
    ("log", "package", "told"),
    [
        (LDAP, "libldap-dev", "lber.h, which libldap-dev holds (asked by python-ldap==3.4.0)"),
        (MYSQL, "default-libmysqlclient-dev", "asked by mysqlclient==2.1.0"),
        (CAIRO, "libcairo2-dev", "asked by pycairo==1.20.0"),
        (GRAPHVIZ, "libgraphviz-dev", "graphviz/cgraph.h"),
        (POSTGRES, "libpq-dev", "pg_config"),
        (NO_COMPILER, "build-essential", "gcc"),
        (FFI, "libffi-dev", "ffi.h"),
        (XML, "libxml2-dev", "libxml2"),
        (OWN_HEADER, "zorp/zorp.h", "fatal error: zorp/zorp.h"),
    ],
)
def test_a_package_of_the_system_is_named(log: str, package: str, told: str) -> None:
    refusal = refused(log)
    assert (refusal.code, refusal.package) == ("needs-system-package", package)
    assert refusal.detail.startswith("build dependencies from source: ")
    assert told in refusal.detail
    assert package in refusal.remedy
    assert refusal.step == "build dependencies from source"


@pytest.mark.parametrize(
    ("log", "package", "told", "helps", "settings"),
    [
        (TOO_OLD, "lxml==4.6.3", "lxml==4.6.3 does not build: src/lxml/etree.c:289:12", "older", {"python": "3.10"}),
        (PYTHON_2, "", "SyntaxError: Missing parentheses in call to 'print'", "Python 2", {}),
        (CONFLICT, "", "Because flask==2.0.0 depends on click>=7.1.2", "another interpreter", {}),
        (CONFLICT, "", "because you require click==7.0", "setup.commands", {}),
        (ABSENT, "no-such-thing", "no-such-thing was not found in the package registry", "setup.pass_env", {}),
        (NOT_THEN, "numpy", "there is no version of numpy==2.3.0", "by the commit's date", {}),
        (NEWER_PYTHON, "", "numpy==2.3.0 cannot be used", "Python >=3.11", {"python": "3.11"}),
        (USE_2TO3, "old==1", "use_2to3 is invalid", "setuptools before 58", {}),
        (NO_DISTUTILS, "old==1", "old==1 does not build: ModuleNotFoundError", "older", {"python": "3.11"}),
        (PRIVATE, "", "401 Unauthorized", "setup.pass_env", {}),
        ("killed\n", "", "killed", "setup.commands", {}),
        ("", "", "it printed nothing", "setup.commands", {}),
    ],
)
def test_the_tree_s_own_failures_are_told_apart(
    log: str, package: str, told: str, helps: str, settings: dict[str, str]
) -> None:
    refusal = refused(log)
    assert (refusal.code, refusal.package) == ("environment-failed", package)
    assert told in refusal.detail
    assert helps in refusal.remedy
    assert dict(refusal.settings) == settings


@pytest.mark.parametrize(
    ("log", "told"),
    [
        (
            "error: Failed to fetch: https://example.org/x.zip\n  cause: error sending request for url\n",
            "Failed to fetch: https://example.org/x.zip",
        ),
        ("fatal: unable to access 'https://example.org/x.git/': Could not resolve host: example.org\n", "resolve host"),
        ("OSError: [Errno 28] No space left on device\n", "make room on the disk"),
        # Whatever else a log says, a network that failed explains it.
        ("ModuleNotFoundError: No module named 'x'\nHTTP status server error (503 Service Unavailable)\n", "503"),
    ],
)
def test_network_and_disk_are_no_refusals(log: str, told: str) -> None:
    with pytest.raises(InfrastructureError, match="build dependencies from source") as raised:
        refused(log)
    assert told in str(raised.value)


def test_a_step_that_was_ended_says_how() -> None:
    refusal = refused("Compiling box\n", Ended.TIMEOUT)
    assert (refusal.code, refusal.lines) == ("environment-failed", ("Compiling box",))
    assert "ended by timeout" in refusal.detail


@given(st.text(max_size=300))
def test_any_log_is_told_in_one_line(log: str) -> None:
    try:
        refusal = refused(log)
    except InfrastructureError:
        return
    assert "\n" not in refusal.detail
    assert len(refusal.detail) < 1000


def test_the_build_tools_that_a_source_misses_are_named_where_they_are_known() -> None:
    log = "ModuleNotFoundError: No module named 'Cython'\nNo module named 'Cython'\nNo module named 'secrets_of_ours'\n"
    assert missing_tools(log) == ("cython",)
    assert missing_tools("Package metadata version `0.0.0` does not match given version `20.8b1`") == (
        "setuptools-scm",
    )
    assert missing_tools("fatal error: pg_config not found") == ()
