"""How scripts start their runner."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execution.languages.javascript_script import Invocation, find_invocation, find_plain_invocation, words


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
        (
            "nyc --reporter lcov mocha --recursive -r hooks.js --reporter dot --bail test/setup.js test/**/*.test.js",
            "mocha",
            Invocation(options=("-r", "hooks.js", "--file", "test/setup.js")),
        ),
        ("mocha -r test/setup.js test/helpers/a.test.js", "mocha", Invocation(options=("-r", "test/setup.js"))),
        (
            "node --expose-gc node_modules/.bin/_mocha -u tdd",
            "mocha",
            Invocation(node_options=("--expose-gc",), options=("-u", "tdd")),
        ),
        (
            "ts-mocha -p test/tsconfig.json test/*.ts",
            "mocha",
            Invocation(variables=("TS_NODE_PROJECT=test/tsconfig.json",), options=("-r", "ts-mocha/src/index.js")),
        ),
        ("eslint --env mocha . && mocha", "mocha", Invocation()),
        ("eslint --env mocha .", "mocha", None),
        ("xo && c8 ava --timeout=2m --verbose", "ava", Invocation(options=("--timeout=2m",))),
        ("tap --100 --node-arg=--expose-gc test/*.js", "tap", Invocation(options=("--node-arg=--expose-gc",))),
        ("uvu -r esm -r ./setup.js tests -i fixtures", "uvu", Invocation(options=("-r", "esm", "-r", "./setup.js"))),
        ("tape -r @babel/register 'test/**/*.js' | tap-spec", "tape", Invocation(options=("-r", "@babel/register"))),
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


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("node -r esm test/index.js", Invocation(node_options=("-r", "esm"))),
        ("ts-node test/index.ts", Invocation(node_options=("-r", "ts-node/register"))),
        (
            "npm run lint && NODE_ENV=test nyc tsx test.ts",
            Invocation(variables=("NODE_ENV=test",), node_options=("--import", "tsx")),
        ),
        ("node build.js", None),
        ("node --test test/a.js", None),
    ],
)
def test_a_test_file_may_be_run_as_a_plain_script(script: str, expected: Invocation | None) -> None:
    assert find_plain_invocation({"build": "node test/build.js", "test": script}) == expected


@given(st.text(alphabet="abjest vitnode-=&|;'\"$\\/.:runtp\n", max_size=80))
def test_any_text_can_be_a_script(text: str) -> None:
    for runner in ("vitest", "jest", "node:test", "mocha", "uvu"):
        found = find_invocation({"test": text}, runner)
        assert found is None or isinstance(found, Invocation)
    assert isinstance(words({"test": text}), tuple)
