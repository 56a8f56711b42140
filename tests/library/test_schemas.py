"""The published JSON Schemas are the models', and the check's reader understands all of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from pydantic import ValidationError

from library.schemas import LIBRARY_SCHEMA_FILE, Library, json_schemas
from library.shape import shape_faults
from tests.support.cases import plain_case
from tests.support.libraries import case_lists, released_document


def test_the_file_that_check_reads_is_current() -> None:
    assert json.loads(LIBRARY_SCHEMA_FILE.read_text()) == json_schemas()["library"]


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(case_lists())
def test_models_and_schema_agree_on_what_is_cut(cases: list[dict[str, object]]) -> None:
    document = released_document(cases)
    assert list(shape_faults(document, json_schemas()["library"])) == []
    again = Library.model_validate_json(json.dumps(document), strict=True).model_dump(mode="json", by_alias=True)
    assert json.dumps(again) == json.dumps(document)


@pytest.mark.parametrize("value", [None, 1, True, "\x7f", "a\nb", [], {}, "sha256:" + "0" * 64, 2**53])
def test_models_and_schema_agree_on_every_single_wrong_value(value: object) -> None:
    document = released_document([plain_case()])
    schema = json_schemas()["library"]
    for holder, key in _places(document):
        kept = holder[key]
        holder[key] = value
        try:
            Library.model_validate_json(json.dumps(document), strict=True)
            taken = True
        except ValidationError:
            taken = False
        assert (not list(shape_faults(document, schema))) is taken, (key, value)
        holder[key] = kept


def _places(value: Any) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in list(inner):
        found += [(value, key), *_places(item)]
    return found


def test_a_schema_with_an_unknown_word_is_refused() -> None:
    with pytest.raises(ValueError, match="uniqueItems"):
        list(shape_faults([], {"type": "array", "items": {}, "uniqueItems": True}))


def test_drafts_and_configuration_have_schemas_too() -> None:
    schemas = json_schemas()
    assert schemas["draft"]["properties"]["schema"]["const"] == "casewright.case/v1"
    assert "hints" not in schemas["draft"]["required"]
    assert schemas["configuration"]["properties"]["library"] == {"$ref": "#/$defs/LibrarySection"}
    assert "additionalProperties" in schemas["configuration"]
