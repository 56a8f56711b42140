"""A case whose every text tries to get out of where it is shown, and the history that it is about."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.cases import plain_case
from tests.support.repos import RepoBuilder

GRADED = "tests/unit/test_record_search.py"
LONG = "x" * 5000


def attack(port: int) -> str:
    """Return a text that runs and asks for something at ``port`` where anything of it becomes markup."""
    address = f"http://127.0.0.1:{port}"
    script = f"document.documentElement.dataset.owned=1;fetch('{address}/fetched')"
    return (
        f'</code></pre></title>]]>--><script>{script}</script><img src="{address}/image" onerror="{script}">'
        f'\'" onload="{script}" \u202eevil\u2069 \u200b'
    )


def hostile_history(folder: Path, port: int) -> RepoBuilder:
    """Make a history whose newest change holds what is hard to show: attacks, bytes, sizes, names."""
    repo = RepoBuilder(folder)
    repo.commit(
        "Begin",
        {
            "src/a.py": "x = 1\n" * 30,
            "data.bin": b"\0\1\2" * 50,
            "app.min.js": "var a=1;" * 600,
            "latin.txt": b"caf\xe9\n",
            "big.txt": "a\n" * 300_000,
            "gone.py": "pass\n",
        },
    )
    repo.commit(
        "Change it",
        {
            "src/a.py": "x = 1\n" * 14 + f"y = 1  # {attack(port)}\n" + "x = 1\n" * 12 + "z = 1\r\n",
            "data.bin": b"\0\1\2" * 60,
            "app.min.js": "var b=1;" * 600,
            "latin.txt": b"caf\xe9s\n",
            "big.txt": "b\n" * 300_000,
            'src/new "q" <b>&.py': "pass\n",
            b"src/caf\xe9.py": "pass\n",
            "gone.py": None,
            GRADED: "def test_new():\n    assert 1 < 2 & 3\n" * 200,
            "tests/conftest.py": "# ]]> -->\n",
            "tests/unit/test_old.py": "pass\n",
        },
    )
    return repo


def hostile_case(repo: RepoBuilder, port: int) -> dict[str, Any]:
    """Return a plain case of that history; every text that may hold an attack holds one."""
    plain = plain_case()
    evil = attack(port)
    line = evil.replace("\u202e", "").replace("\u2069", "").replace("\u200b", "")
    grading = plain["grading"] | {
        "fail_to_pass": [*plain["grading"]["fail_to_pass"], f"{GRADED}::test[{evil}]"],
        "check": f"echo '{evil}'",
        "resolved_when": line,
    }
    issue = {
        "url": "https://example.org/issues/3",
        "number": 3,
        "title": line,
        "body": f"{evil}\n\nSecond.",
        "labels": [line],
        "created": "2026-01-01T00:00:00Z",
    }
    source = plain["source"] | {
        "pull_request": {"url": "javascript:alert(1)", "number": 4, "title": line, "merged_at": None},
        "issues": [issue],
        "text_from": [{"source": line, "sentences": [line]}],
    }
    verification = plain["verification"]
    verification["head"] = {
        **verification["head"],
        "summary": evil,
        "counts": {**verification["head"]["counts"], "passed": 8},
    }
    verification["base"] = {**verification["base"], "error": evil}
    task = f"The search of 249689d816 leaves out records, see #12.\n{evil}\n\nIt is resolved when it shows them.\n"
    return plain_case(
        id="hostile-1",
        base_commit=repo.git("rev-parse", "HEAD^"),
        grading_commit=repo.head(),
        grading=grading,
        source=source,
        verification=verification,
        category=line,
        task=task,
        hints=f"Mind {LONG} {evil}\n",
    )
