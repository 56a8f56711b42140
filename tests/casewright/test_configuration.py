"""The example in the docs is a whole configuration."""

from __future__ import annotations

import re
from pathlib import Path

from casewright.configuration import Configuration, StatementSection, configuration_digest, read_configuration

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


def test_a_repositorys_own_proposing_command_goes_before_the_defaults_and_decides_no_verdict() -> None:
    configuration = read_configuration(EXAMPLE)
    usual = configuration.statement("example/links")
    assert (usual and usual.command, usual and usual.seconds) == ("./propose-a-task --style plain", 300)
    own = StatementSection(command="./other")
    section = configuration.repository("example/links").model_copy(update={"statement": own})
    changed = configuration.model_copy(update={"repositories": {"example/links": section}})
    assert changed.statement("example/links") == own
    digests = {configuration_digest(each, "example/links", {}, "1") for each in (configuration, changed)}
    assert len(digests) == 1
