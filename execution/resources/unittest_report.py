"""Run unittest as ``python -m unittest ARGUMENTS`` does, and tell on file descriptor 3 what becomes of each test.

Usage: ``python unittest_report.py ARGUMENTS`` with the write end of a pipe open as file descriptor 3. Every line that
is written there is one JSON object in ASCII; ``execution/reports/unittest_events.py`` describes and reads them. This
file stands alone: it is seen by Python 3.6 and later and imports nothing but the standard library. ``sys.path``,
``sys.argv`` and the free file descriptors are those of ``python -m unittest``, and only the process that was started
first writes.
"""

import fcntl
import json
import os
import platform
import runpy
import sys

REPORT_FD = 3
# High enough to leave the low numbers to tests that hand descriptors to children of theirs.
OWN_FD_FROM = 100
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


def leaves(test):
    """Yield the tests of a suite in the order in which they will run."""
    try:
        parts = iter(test)
    except TypeError:
        yield test
        return
    for part in parts:
        for leaf in leaves(part):
            yield leaf


def is_placeholder(test):
    """Tell the stand-in that the loader makes for a module that can't be imported."""
    return type(test).__name__ == "_FailedTest" and type(test).__module__ == "unittest.loader"


def describe(suite, channel):
    """Tell what a suite holds: each test with the place in the command line of the argument that asked for it."""
    rows = []
    for place, part in enumerate(suite):
        for test in leaves(part):
            if is_placeholder(test):
                lines = [line for line in str(getattr(test, "_exception", "")).splitlines() if line.strip()]
                channel.tell("broken", argument=place, message=(lines or [""])[-1].strip()[:MESSAGE_LENGTH])
            else:
                rows.append({"id": test.id(), "argument": place})
    channel.tell("collected", items=rows)


def make_result(base, channel):
    """Return a result class that says all that ``base`` hears."""
    import unittest

    class TellingResult(base):
        def addSuccess(self, test):
            base.addSuccess(self, test)
            self._tell(test, "passed")

        def addFailure(self, test, err):
            base.addFailure(self, test, err)
            self._tell(test, "failed", err)

        def addError(self, test, err):
            base.addError(self, test, err)
            if not is_placeholder(test):
                self._tell(test, "error", err)

        def addSkip(self, test, reason):
            base.addSkip(self, test, reason)
            self._tell(test, "skipped")

        def addExpectedFailure(self, test, err):
            base.addExpectedFailure(self, test, err)
            self._tell(test, "xfailed")

        def addUnexpectedSuccess(self, test):
            base.addUnexpectedSuccess(self, test)
            channel.tell("outcome", id=test.id(), outcome="failed", by="assertion", message="unexpected success")

        def addSubTest(self, test, subtest, err):
            base.addSubTest(self, test, subtest, err)
            if err is not None:
                asserted = issubclass(err[0], test.failureException)
                self._tell(test, "failed" if asserted else "error", err)

        def stopTest(self, test):
            base.stopTest(self, test)
            if not is_placeholder(test):
                channel.tell("stopped", id=test.id())

        def _tell(self, test, outcome, err=None):
            message = one_line(err[1]) or err[0].__name__ if err else ""
            by = ""
            if err:
                by = "assertion" if issubclass(err[0], AssertionError) else "error"
            if type(test).__name__ == "_ErrorHolder":
                channel.tell("fixture", name=test.id(), outcome=outcome, by=by, message=message)
                return
            whole = getattr(test, "test_case", test) if isinstance(test, unittest.case._SubTest) else test
            channel.tell("outcome", id=whole.id(), outcome=outcome, by=by, message=message)

    TellingResult.__name__ = base.__name__
    TellingResult.__qualname__ = base.__qualname__
    return TellingResult


def listen(channel):
    """Make the text runner say what it is given to run and what becomes of it."""
    import unittest.runner

    runner = unittest.runner.TextTestRunner
    original_run = runner.run

    def run_and_tell(self, test):
        runner.run = original_run
        self.resultclass = make_result(self.resultclass, channel)
        describe(test, channel)
        return original_run(self, test)

    # Once only: a test may start a runner of its own, which is none of ours.
    runner.run = run_and_tell


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
    channel.tell("session", version=platform.python_version(), cwd=os.getcwd())
    listen(channel)
    run("unittest", channel)


if __name__ == "__main__":
    main()
