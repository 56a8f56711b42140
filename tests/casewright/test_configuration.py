"""The example in the docs is a whole configuration."""

from __future__ import annotations

import re
from pathlib import Path

from casewright.configuration import Configuration, read_configuration

EXAMPLE = Path(__file__).parents[2] / "docs" / "example-casewright.yaml"


def test_the_example_can_be_read() -> None:
    configuration = read_configuration(EXAMPLE)
    assert configuration.limits("example/durations")["seconds"] == 120
    assert configuration.limits("example/durations")["disk_mb"] == 2048


def test_the_example_uses_every_key_there_is() -> None:
    schema = Configuration.model_json_schema(by_alias=True)
    sections = [schema, *schema["$defs"].values()]
    keys = {key for section in sections for key in section.get("properties", {})}
    assert len(keys) > 30
    text = EXAMPLE.read_text()
    assert {key for key in keys if not re.search(rf"^[ -]*{key}:", text, re.MULTILINE)} == set()
