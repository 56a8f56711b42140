"""Every reason that a change or a candidate can be refused for: a stable code, its stage and a sentence.

The docs' table is generated from this file, and a test holds it current. Codes are tried in the order of this file.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Stage(StrEnum):
    """Where a reason belongs."""

    TREE = "shape, by tree"
    CONTENT = "shape, by content"
    ENVIRONMENT = "environment"
    RUN = "run"
    PUBLISH = "publish"
    NO_VERDICT = "not a verdict"


class Reason(StrEnum):
    """The codes, in the order in which they are tried."""

    EMPTY_CHANGE = "empty-change"
    NO_TEST_CHANGE = "no-test-change"
    NO_SOURCE_CHANGE = "no-source-change"
    ONLY_DELETED_TESTS = "only-deleted-tests"
    NO_RUNNABLE_TEST_FILE = "no-runnable-test-file"
    SUBMODULE_CHANGE = "submodule-change"
    PATH_NOT_REPRESENTABLE = "path-not-representable"
    TOO_LARGE = "too-large"
    LFS_POINTER = "lfs-pointer"
    REVERT = "revert"
    DUPLICATE_CHANGE = "duplicate-change"
    PINS_NOT_IN_PLAIN_CLONE = "pins-not-in-plain-clone"
    NOT_STATABLE = "not-statable"
    ROUND_TRIP_FAILED = "round-trip-failed"
    UNKNOWN_LANGUAGE = "unknown-language"
    RUNTIME_UNAVAILABLE = "runtime-unavailable"
    ENVIRONMENT_FAILED = "environment-failed"
    RUNNER_MISSING = "runner-missing"
    NEEDS_SYSTEM_PACKAGE = "needs-system-package"
    TEST_PART_DOES_NOT_APPLY = "test-part-does-not-apply"
    COLLECTS_NOTHING = "collects-nothing"
    BASE_PASSES = "base-passes"
    RED_AT_BOTH = "red-at-both"
    HEAD_FAILS = "head-fails"
    NEEDS_NETWORK = "needs-network"
    FLAKY = "flaky"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out-of-memory"
    REPORT_MISSING = "report-missing"
    REPRODUCTION_DIFFERS = "reproduction-differs"
    CASE_NOT_REPRESENTABLE = "case-not-representable"
    INFRASTRUCTURE = "infrastructure"


@dataclass(frozen=True, kw_only=True, slots=True)
class Explanation:
    """What a reason means: its stage, one sentence, and one example."""

    stage: Stage
    sentence: str
    example: str


def _row(stage: Stage, sentence: str, example: str) -> Explanation:
    return Explanation(stage=stage, sentence=sentence, example=example)


EXPLANATIONS: Final[dict[Reason, Explanation]] = {
    Reason.EMPTY_CHANGE: _row(
        Stage.TREE, "Base and head have the same tree.", "an empty commit, or a merge that keeps ours"
    ),
    Reason.NO_TEST_CHANGE: _row(Stage.TREE, "No file of the change is a test or supports one.", "a readme is edited"),
    Reason.NO_SOURCE_CHANGE: _row(
        Stage.TREE,
        "Outside the tests only documentation, configuration, manifests, examples or benchmarks change.",
        "a test is added and the changelog mentions it",
    ),
    Reason.ONLY_DELETED_TESTS: _row(
        Stage.TREE, "Every test file of the change is deleted.", "a feature and its test file are removed"
    ),
    Reason.NO_RUNNABLE_TEST_FILE: _row(
        Stage.TREE,
        "The test part has fixtures or helpers only, nothing that a runner collects.",
        "`tests/data/points.json` changes along with the source",
    ),
    Reason.SUBMODULE_CHANGE: _row(
        Stage.TREE, "The change moves a submodule, whose content a plain clone does not hold.", "`vendor/lib` moves"
    ),
    Reason.PATH_NOT_REPRESENTABLE: _row(
        Stage.TREE,
        "A path of the test part is not UTF-8 or holds a character that a case can't carry.",
        "`tests/data/latin-\\xe9.txt` is added",
    ),
    Reason.TOO_LARGE: _row(
        Stage.TREE,
        "The rest part has more files or changed lines than the limits allow (100 and 5,000 unless configured).",
        "the whole code base is reformatted",
    ),
    Reason.LFS_POINTER: _row(
        Stage.CONTENT,
        "A file of the change is a Git LFS pointer, whose content a plain clone does not hold.",
        "`tests/data/model.bin` is kept in LFS",
    ),
    Reason.REVERT: _row(
        Stage.CONTENT,
        "The change is the exact reverse of an earlier change of the same history.",
        '`Revert "Multiply, do not add"`',
    ),
    Reason.DUPLICATE_CHANGE: _row(
        Stage.CONTENT,
        "A change nearer to the root has the same patch-id; this one repeats it.",
        "a cherry-pick is merged back",
    ),
    Reason.PINS_NOT_IN_PLAIN_CLONE: _row(
        Stage.CONTENT,
        "No branch or tag of a plain clone leads to the base or the grading commit.",
        "the head is known only as `refs/pull/1/head`",
    ),
    Reason.NOT_STATABLE: _row(
        Stage.CONTENT,
        "The texts at hand say nothing that a task could be made from.",
        "the whole message is `fix`",
    ),
    Reason.ROUND_TRIP_FAILED: _row(
        Stage.CONTENT,
        "Base, test part and rest part together do not give the head's tree.",
        "a bug of ours, or a repository that is damaged",
    ),
    Reason.UNKNOWN_LANGUAGE: _row(
        Stage.ENVIRONMENT, "No rule knows how to run these test files.", "`src/test/java/BoxTest.java`"
    ),
    Reason.RUNTIME_UNAVAILABLE: _row(
        Stage.ENVIRONMENT,
        "The runtime that the tree asks for is not on this machine.",
        "`requires-python` is `==3.4.*`",
    ),
    Reason.ENVIRONMENT_FAILED: _row(
        Stage.ENVIRONMENT,
        "A step of the set-up failed, or the runner ends at both states before any test.",
        "a lock file is stale",
    ),
    Reason.RUNNER_MISSING: _row(
        Stage.ENVIRONMENT,
        "The environment was built, but the test runner is not in it and no rule adds it.",
        "`package.json` names no test runner",
    ),
    Reason.NEEDS_SYSTEM_PACKAGE: _row(
        Stage.ENVIRONMENT,
        "Set-up needs a library or a compiler of the system that is not here.",
        "`fatal error: libxml/tree.h: No such file or directory`",
    ),
    Reason.TEST_PART_DOES_NOT_APPLY: _row(
        Stage.RUN,
        "`git apply` refuses the test part on the base.",
        "a file of the test part is a directory at the base",
    ),
    Reason.COLLECTS_NOTHING: _row(
        Stage.RUN, "At the head the runner finds no test in the graded files.", "every test is deselected by a marker"
    ),
    Reason.BASE_PASSES: _row(
        Stage.RUN, "With the test part alone the graded tests pass already: they grade nothing.", "a refactoring"
    ),
    Reason.RED_AT_BOTH: _row(
        Stage.RUN,
        "Every graded file has a test that fails at the head too, so none can grade.",
        "the new test fails on the commit that adds it",
    ),
    Reason.HEAD_FAILS: _row(
        Stage.RUN,
        "The graded files are red at the head, or the run fails there although every test passes.",
        "the head was committed with a broken test",
    ),
    Reason.NEEDS_NETWORK: _row(
        Stage.RUN, "The head fails with the network denied and passes with it.", "a test downloads a fixture"
    ),
    Reason.FLAKY: _row(
        Stage.RUN, "A test that would grade changes its outcome between equal runs.", "a test depends on the hash seed"
    ),
    Reason.TIMEOUT: _row(Stage.RUN, "The head did not end within the time limit.", "a test waits for input"),
    Reason.OUT_OF_MEMORY: _row(Stage.RUN, "The head ran into the memory limit.", "a test fills a list without end"),
    Reason.REPORT_MISSING: _row(
        Stage.RUN,
        "The run at the head left no whole report: it ended early or broke the protocol.",
        "the code under test ends the process",
    ),
    Reason.REPRODUCTION_DIFFERS: _row(
        Stage.PUBLISH,
        "The recorded commands, run in a fresh plain clone, did not give what was recorded.",
        "a test asks git for the repository's history",
    ),
    Reason.CASE_NOT_REPRESENTABLE: _row(
        Stage.PUBLISH,
        "A test id or another value can't be written into a library.",
        "a test id holds a lone surrogate",
    ),
    Reason.INFRASTRUCTURE: _row(
        Stage.NO_VERDICT,
        "The machine, the network or a registry failed; the change is judged again on the next run.",
        "the package index did not answer",
    ),
}
