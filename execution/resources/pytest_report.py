"""Run pytest as ``python -m pytest ARGUMENTS`` does, and tell on file descriptor 3 what becomes of each test.

Usage: ``python pytest_report.py ARGUMENTS`` with the write end of a pipe open as file descriptor 3. Every line that is
written there is one JSON object in ASCII; ``execution/reports/pytest_events.py`` describes and reads them. This file
stands alone: it is seen by Python 3.6 and later, by pytest 3 and later, and imports nothing but the standard library
and pytest. What a test can see stays as it is without us: ``sys.path``, ``sys.argv``, ``__main__`` and the free file
descriptors are those of ``python -m pytest``, and only the process that was started first writes.
"""

import fcntl
import json
import os
import runpy
import sys
import types

REPORT_FD = 3
# High enough to leave the low numbers to tests that hand descriptors to children of theirs.
OWN_FD_FROM = 100
PLUGIN = "casewright_events"
MESSAGE_LENGTH = 400


class Channel:
    """The pipe to the reader. The functions are kept as attributes: tests replace those of ``os`` and ``json``."""

    def __init__(self):
        try:
            self._fd = fcntl.fcntl(REPORT_FD, fcntl.F_DUPFD_CLOEXEC, OWN_FD_FROM)
        except OSError:
            self._fd = os.dup(REPORT_FD)
        os.close(REPORT_FD)
        self._pid = os.getpid()
        self._getpid = os.getpid
        self._write = os.write
        self._encode = json.JSONEncoder(ensure_ascii=True).encode

    def tell(self, event, **fields):
        """Write one event, whole. A forked child says nothing: it would say everything twice."""
        if self._getpid() != self._pid:
            return
        fields["event"] = event
        line = self._encode(fields).encode("ascii") + b"\n"
        while line:
            line = line[self._write(self._fd, line) :]


def one_line(text):
    """Return the first line of a text that says something, cut to a bearable length."""
    for line in str(text).splitlines():
        if line.strip():
            return line.strip()[:MESSAGE_LENGTH]
    return ""


def telling_line(longrepr):
    """Return the line of a traceback that names the error: pytest's own ``E`` line, else the last line."""
    crash = getattr(longrepr, "reprcrash", None)
    if crash is not None:
        return one_line(crash.message)
    if isinstance(longrepr, tuple):
        return one_line(longrepr[-1])
    lines = [line.strip() for line in str(longrepr).splitlines() if line.strip()]
    errors = [line[1:].strip() for line in lines if line.startswith("E ")]
    return (errors or lines or [""])[-1][:MESSAGE_LENGTH]


def folder_of(config):
    """Return the folder that node ids start from."""
    return str(getattr(config, "rootpath", None) or config.rootdir)


def is_subtest(report):
    """Tell a report about a part of a test (pytest 9, pytest-subtests) from one about the test."""
    return type(report).__name__.lower() == "subtestreport"


def make_plugin(channel):
    """Return the plugin as a module, which is what ``-p NAME`` looks for."""
    import pytest

    # The magic word keeps pytest from warning that it came too late to rewrite the module's assertions.
    plugin = types.ModuleType(PLUGIN, "Tells what becomes of each test. PYTEST_DONT_REWRITE")
    kinds = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_load_initial_conftests():
        # pytest has read the command line; what it was asked for is what the tests' own code finds there.
        if sys.argv[1:3] == ["-p", PLUGIN]:
            del sys.argv[1:3]

    def pytest_sessionstart(session):
        channel.tell("session", version=pytest.__version__, rootdir=folder_of(session.config), cwd=os.getcwd())

    def pytest_collectreport(report):
        if report.outcome == "passed":
            return
        channel.tell(
            "broken" if report.outcome == "failed" else "skipped-file",
            id=report.nodeid,
            message=telling_line(report.longrepr),
        )

    def pytest_deselected(items):
        channel.tell("deselected", ids=[item.nodeid for item in items])

    def pytest_collection_finish(session):
        items = [
            {"id": item.nodeid, "path": str(getattr(item, "path", None) or getattr(item, "fspath", ""))}
            for item in session.items
        ]
        channel.tell("collected", items=items)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(item, call):
        yield
        # Not before: what a unittest.TestCase raised is put into the call while its report is made.
        if call.excinfo is not None:
            asserted = issubclass(call.excinfo.type, (AssertionError, pytest.fail.Exception))
            kinds[item.nodeid] = "assertion" if asserted else "error"

    def pytest_runtest_logreport(report):
        failed = report.outcome == "failed"
        kind = kinds.pop(report.nodeid, None)
        channel.tell(
            "report",
            id=report.nodeid,
            when=report.when,
            outcome=report.outcome,
            xfail=hasattr(report, "wasxfail"),
            subtest=is_subtest(report),
            # A failure without an exception is pytest's own judgement: a strict xfail that passes, failed subtests.
            by=(kind or "assertion") if failed else "",
            message=telling_line(report.longrepr) if failed else "",
        )

    def pytest_internalerror(excrepr):
        channel.tell("internal-error", message=telling_line(excrepr))

    def pytest_keyboard_interrupt(excinfo):
        channel.tell("interrupted", message=one_line(excinfo.value) or excinfo.type.__name__)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(session, exitstatus):
        cut = getattr(session, "shouldfail", False) or getattr(session, "shouldstop", False)
        channel.tell("finish", exit=int(exitstatus), cut=one_line(cut) if cut else "")

    for hook in list(locals().values()):
        if isinstance(hook, types.FunctionType):
            setattr(plugin, hook.__name__, hook)
    return plugin


def exit_code(stop):
    """Return the number that the process ends with for a ``SystemExit``."""
    if stop.code is None:
        return 0
    return int(stop.code) & 0xFF if isinstance(stop.code, int) else 1


def run(module, channel):
    """Run a module as ``python -m`` does and tell how it ended."""
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as stop:
        channel.tell("end", exit=exit_code(stop))
        raise
    except BaseException:
        channel.tell("end", exit=1)
        raise
    channel.tell("end", exit=0)


def main():
    channel = Channel()
    # The folder of this file stands first on the path; ``python -m`` has the working folder there.
    sys.path[0] = os.getcwd() if sys.version_info >= (3, 7) else ""
    sys.modules[PLUGIN] = make_plugin(channel)
    sys.argv[1:1] = ["-p", PLUGIN]
    run("pytest", channel)


if __name__ == "__main__":
    main()
