"""The page in a real browser: marks where the findings are, nothing runs, nothing is asked for, it fits a phone."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from authoring.case import ReviewState
from authoring.case_page.page import case_page
from authoring.case_view import CaseView
from authoring.change_files import change_files
from authoring.findings import Judged
from authoring.lint import lint
from casewright.repository import open_source
from tests.support.browser import Element, Site, elements, needs_browser, rendered, served
from tests.support.cases import TASK, as_case, plain_case
from tests.support.hostile import hostile_case, hostile_history

MEASURE = """<!DOCTYPE html><iframe src="/" style="width:%dpx;height:900px;border:0"></iframe><output></output><script>
addEventListener("load", () => {
  const page = document.querySelector("iframe").contentDocument;
  document.querySelector("output").textContent = page.documentElement.scrollWidth;
});</script>"""

COLUMNS = """<!DOCTYPE html><iframe src="/"></iframe><output></output><script>
addEventListener("load", () => {
  const page = document.querySelector("iframe").contentDocument;
  const text = page.getElementById("task-text").firstChild;
  const line = page.createRange();
  const widths = ["iiii", "MMMM"].map(word => {
    line.setStart(text, text.data.indexOf(word));
    line.setEnd(text, text.data.indexOf(word) + 4);
    return line.getBoundingClientRect().width;
  });
  document.querySelector("output").textContent = widths[0] > 0 && widths[0] === widths[1];
});</script>"""


def view_of(plain: dict[str, object], history: Path | None = None) -> CaseView:
    case = as_case(plain)
    files, why = None, "its history is not at hand"
    if history is not None:
        with open_source(str(history), history.parent / "cache") as repository:
            files, why = change_files(repository, case), ""
    return CaseView(
        case=case,
        entry=plain,
        state=ReviewState.AUTO,
        origin="cases/x.yaml",
        judged=Judged(findings=lint(case), notes=("a note <b>",)),
        files=files,
        why_no_files=why,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site whose page is about the hostile case; every attack in it points at the site itself."""
    with served() as site:
        repo = hostile_history(tmp_path_factory.mktemp("history") / "repo", site.port)
        site.pages["/"] = case_page(view_of(hostile_case(repo, site.port), repo.path), "casewright 0")
        yield site


@pytest.fixture(scope="module")
def document(site: Site, tmp_path_factory: pytest.TempPathFactory) -> list[Element]:
    site.asked.clear()
    return elements(rendered(site.url(), tmp_path_factory.mktemp("profile")))


def named(found: list[Element], name: str) -> list[Element]:
    return [element for element in found if element.name == name]


@needs_browser
class TestInABrowser:
    def test_nothing_runs_and_nothing_is_asked_for(self, site: Site, document: list[Element]) -> None:
        assert site.asked == ["/"]
        (root,) = named(document, "html")
        assert "data-owned" not in root.attributes
        for forbidden in ("script", "img", "iframe", "object", "form", "link", "svg"):
            assert named(document, forbidden) == []
        assert not [name for element in document for name in element.attributes if name.startswith("on")]
        assert not [link for link in named(document, "a") if link.attributes["href"].startswith("javascript")]

    def test_such_a_page_would_be_caught(self, site: Site, tmp_path: Path) -> None:
        head, body = site.pages["/"].split("</main>")
        policy = next(line for line in head.splitlines() if "Content-Security-Policy" in line)
        script = f"<script>document.documentElement.dataset.owned=1;fetch('{site.url('/fetched')}')</script>"
        site.pages["/open"] = f"{head.replace(policy, '')}{script}</main>{body}"
        site.pages["/held"] = f"{head}{script}<img src='{site.url('/image')}'></main>{body}"
        site.asked.clear()
        opened = rendered(site.url("/open"), tmp_path / "one")
        assert 'data-owned="1"' in opened
        assert "/fetched" in site.asked
        site.asked.clear()
        held = rendered(site.url("/held"), tmp_path / "two")
        assert "data-owned" not in held.split(">")[1]
        assert site.asked == ["/held"]

    def test_each_mark_stands_where_its_finding_is(self, document: list[Element]) -> None:
        (text,) = [element for element in document if element.attributes.get("id") == "task-text"]
        assert "The search of 1249689d816 leaves out records" in text.text
        rows = [element for element in document if element.attributes.get("id", "").startswith("finding-")]
        marks = named(document, "mark")
        told = {row.attributes["id"]: row.text for row in rows}
        assert "commit-id in task: '249689d816' names a commit" in told["finding-1"]
        assert [mark.text for mark in marks if "1" in mark.attributes["data-findings"].split()] == ["249689d816"]
        numbers = {number for mark in marks for number in mark.attributes["data-findings"].split()}
        anchors = {element.attributes["id"] for element in document if element.attributes.get("class") == "ref"}
        assert anchors == {f"mark-{number}" for number in numbers}
        assert anchors == {f"mark-{name.removeprefix('finding-')}" for name in told}
        hidden = [mark for mark in marks if mark.text == "U+202E"]
        assert len(hidden) == 2

    def test_landmarks_headings_and_ids_are_in_order(self, document: list[Element]) -> None:
        for landmark in ("header", "nav", "main", "footer", "h1", "title"):
            assert len(named(document, landmark)) == 1, landmark
        levels = [int(element.name[1]) for element in document if element.name in {"h1", "h2", "h3"}]
        assert levels[0] == 1
        assert all(after - before <= 1 for before, after in pairwise(levels))
        ids = [element.attributes["id"] for element in document if "id" in element.attributes]
        assert len(ids) == len(set(ids))
        inside = [link.attributes["href"] for link in named(document, "a") if link.attributes["href"].startswith("#")]
        assert {href[1:] for href in inside} <= set(ids)
        assert all(element.attributes.get("aria-label") for element in named(document, "pre"))
        assert all(element.attributes.get("tabindex") == "0" for element in named(document, "pre"))

    def test_what_nobody_reads_is_folded_or_told_by_its_size(self, document: list[Element]) -> None:
        files = {
            element.text.split(" ")[0]: element for element in document if element.attributes.get("class") == "file"
        }
        assert "more than 524,288 bytes before" in files["big.txt"].text
        assert "150 bytes before, 180 bytes after" in files["data.bin"].text
        for name in ("app.min.js", "latin.txt", "tests/unit/test_record_search.py"):
            assert (files[name].name, "open" in files[name].attributes) == ("details", False), name
        assert "4,601 more bytes" in files["app.min.js"].text
        assert "caf\\xe9s" in files["latin.txt"].text
        assert "open" in files["src/a.py"].attributes
        assert "U+202E" in files["src/a.py"].text
        assert "z = 1U+000D" in files["src/a.py"].text
        assert "src/caf\\xe9.py" in files

    @pytest.mark.parametrize("width", [360, 768, 1400])
    def test_it_fits_the_screen(self, site: Site, tmp_path: Path, width: int) -> None:
        site.pages["/measure"] = MEASURE % width
        output = named(elements(rendered(site.url("/measure"), tmp_path, "--window-size=1500,1000")), "output")[0]
        assert 0 < int(output.text) <= width


def test_what_was_seen_of_each_test_stands_side_by_side() -> None:
    found = elements(case_page(view_of(plain_case()), "casewright 0"))
    rows = [element.text for element in found if element.name == "tr"]
    assert "tests/unit/test_record_search.py::test_newerrorpassed" in rows
    assert "tests/unit/test_record_search.py::test_b[a: b]assertionpassed" in rows
    assert "tests/unit/test_record_search.py::test_0passedpassed" in rows
    assert "tests/unit/test_record_search.py::test_windowsnot countedskipped" in rows


def test_without_a_history_the_files_are_named_and_the_reason_is_told() -> None:
    page = case_page(view_of(plain_case()), "casewright 0")
    texts = {element.attributes.get("id"): element.text for element in elements(page)}
    assert "tests/unit/test_record_search.py graded" in texts["test-part"]
    assert "No diffs: its history is not at hand." in texts["rest-part"]


def test_the_same_case_gives_the_same_page() -> None:
    assert case_page(view_of(plain_case()), "t") == case_page(view_of(plain_case()), "t")


@needs_browser
def test_what_a_task_sets_in_columns_stays_in_columns(tmp_path: Path) -> None:
    with served() as site:
        site.pages["/"] = case_page(view_of(plain_case(task=f"{TASK}\niiii\nMMMM\n")), "casewright 1")
        site.pages["/columns"] = COLUMNS
        (answer,) = named(elements(rendered(site.url("/columns"), tmp_path)), "output")
    assert answer.text == "true"
