"""From the bytes of a JUnit XML report to its test cases, without any runner's conventions about names.

JUnit XML has no identity for a test: ``classname`` and ``name`` are free text, and each runner fills them in its own
way. Who knows the runner turns these rows into ids.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.parsers import expat

from casewright.errors import InvalidInputError
from execution.observation import Outcome

_CHILDREN = {"failure": Outcome.FAILED, "error": Outcome.ERROR, "skipped": Outcome.SKIPPED}


@dataclass(frozen=True, kw_only=True, slots=True)
class JUnitCase:
    """One ``testcase`` element. ``outcome`` is the worst that its children say; ``kind`` is that child's ``type``."""

    classname: str
    name: str
    file: str
    outcome: Outcome
    kind: str = ""
    message: str = ""


@dataclass(slots=True)
class _Reader:
    """What the parser has met so far: the finished cases and the attributes of the one that is open."""

    cases: list[JUnitCase] = field(default_factory=list)
    open: dict[str, str] | None = None
    outcome: Outcome = Outcome.PASSED
    kind: str = ""
    message: str = ""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "testcase":
            self.open, self.outcome, self.kind, self.message = attributes, Outcome.PASSED, "", ""
        elif self.open is not None and tag in _CHILDREN and self.outcome in {Outcome.PASSED, Outcome.SKIPPED}:
            self.outcome = _CHILDREN[tag]
            self.kind = attributes.get("type", "")
            self.message = attributes.get("message", "")

    def end(self, tag: str) -> None:
        if tag != "testcase" or self.open is None:
            return
        self.cases.append(
            JUnitCase(
                classname=self.open.get("classname", ""),
                name=self.open.get("name", ""),
                file=self.open.get("file", ""),
                outcome=self.outcome,
                kind=self.kind,
                message=self.message,
            )
        )
        self.open = None


def read_cases(report: bytes) -> tuple[JUnitCase, ...]:
    """Return the test cases of a report in its order.

    Raises ``InvalidInputError`` when the report is not XML, or declares entities: a runner has no need of them, and a
    few lines of them fill any memory.
    """
    reader = _Reader()
    parser = expat.ParserCreate()
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.EntityDeclHandler = _refuse_entity
    try:
        parser.Parse(report, True)
    except (expat.ExpatError, ValueError) as error:
        raise InvalidInputError(f"the JUnit report is not XML: {error}", "run the check again") from error
    return tuple(reader.cases)


def _refuse_entity(name: str, *_declaration: object) -> None:
    raise InvalidInputError(f"the JUnit report declares the entity {name!r}", "a test runner writes none")
