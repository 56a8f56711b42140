"""How scripts start their runner."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execution.languages.javascript_script import Invocation, find_invocation, words


def _found(script: str, runner: str, **others: str) -> Invocation | None:
    return find_invocation({"test": script, **others}, runner)


@pytest.mark.parametrize(
    ("script", "runner", "expected"),
    [
        ("eslint . && vitest run --coverage", "vitest", Invocation()),
        (
            "vitest --config test/vitest.config.ts --reporter dot",
            "vitest",
            Invocation(options=("--config", "test/vitest.config.ts")),
        ),
        (
            "cross-env NODE_ENV=test CI=1 jest --env=jsdom src",
            "jest",
            Invocation(variables=("NODE_ENV=test",), options=("--env=jsdom",)),
        ),
        (
            "node --experimental-vm-modules node_modules/jest/bin/jest.js -c jest.esm.js",
            "jest",
            Invocation(node_options=("--experimental-vm-modules",), options=("-c", "jest.esm.js")),
        ),
        (
            "NODE_OPTIONS=--experimental-vm-modules npx jest",
            "jest",
            Invocation(variables=("NODE_OPTIONS=--experimental-vm-modules",)),
        ),
        ("node --import tsx --test test/*.ts", "node:test", Invocation(node_options=("--import", "tsx"))),
        ("c8 node --test-reporter=spec --test", "node:test", Invocation()),
        ("tsx --test test/a.ts", "node:test", Invocation(node_options=("--import", "tsx"))),
        ("node build.js", "node:test", None),
        ("mocha", "jest", None),
        ("TOKEN=$(secret) jest", "jest", Invocation()),
    ],
)
def test_what_a_script_says_of_its_runner(script: str, runner: str, expected: Invocation | None) -> None:
    assert _found(script, runner) == expected


def test_scripts_that_call_scripts_are_followed() -> None:
    found = _found(
        "npm run lint && pnpm test:unit", "vitest", **{"test:unit": "vitest run --globals", "lint": "eslint ."}
    )
    assert found == Invocation(options=("--globals",))


def test_scripts_that_call_each_other_end() -> None:
    assert _found("npm run a", "jest", a="npm run b", b="npm run a") is None
    assert words({"test": "npm run a", "a": "npm test && mocha x"}) == ("npm", "test", "mocha", "x")


@given(st.text(alphabet="abjest vitnode-=&|;'\"$\\/.:runtp\n", max_size=80))
def test_any_text_can_be_a_script(text: str) -> None:
    for runner in ("vitest", "jest", "node:test"):
        found = find_invocation({"test": text}, runner)
        assert found is None or isinstance(found, Invocation)
    assert isinstance(words({"test": text}), tuple)
