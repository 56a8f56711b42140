"""How far `casewright mine` agrees with hand-made verdicts: python benchmarks/agreement.py MINED.jsonl TRUTH.jsonl

MINED is what `mine --format json` printed, TRUTH one row for each change with `head`, `base`, `verdict`, `acceptable`,
`ambiguous`, `base_mode` and `fail_to_pass`. Every disagreement is printed; the last lines are the figures.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

# Words of the truth -> our codes.
_REASONS = {
    "base-green": {"base-passes"},
    "head-red": {"head-fails", "red-at-both"},
    "flaky": {"flaky"},
    "environment": {"environment-failed", "runner-missing", "runtime-unavailable"},
}


def rows(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines() if line.strip()]


def agrees(mined: dict[str, Any], truth: dict[str, Any]) -> tuple[bool, bool]:
    """Whether verdict and reason are ones that the row's author accepts.

    A change that a screen refuses is not run, so its reason can't be the one that the author's run gave.
    """
    if truth.get("dup_of") and mined["reason"] == "duplicate-change":
        return True, True
    verdict_same = False
    for word in truth["acceptable"] if truth["ambiguous"] else truth["acceptable"][:1]:
        verdict, _, reason = word.partition(":")
        if verdict == "admit" and mined["outcome"] == "admitted":
            return True, True
        if verdict == "reject" and mined["outcome"] == "rejected":
            verdict_same = True
            if not reason or mined["reason"] in _REASONS.get(reason, {reason}):
                return True, True
    return verdict_same, False


def main(mined_path: str, truth_path: str) -> int:
    mined = {row["head"]: row for row in rows(mined_path)}
    truth = rows(truth_path)
    same = known = lists = equal_lists = 0
    for row in truth:
        ours = mined.get(row["head"])
        if ours is None:
            print(f"absent    {row['head'][:10]} {row['verdict']:7} {row['subject']}")
            continue
        known += 1
        if ours["base"] != row["base"]:
            print(f"base      {row['head'][:10]} ours {ours['base'][:10]}, truth {row['base'][:10]} {row['subject']}")
        verdict, reason = agrees(ours, row)
        same += verdict
        if not (verdict and reason):
            words = f"{ours['outcome']} {ours['reason'] or ''}: {ours['detail'][:160]}"
            kind = "reason" if verdict else "verdict"
            print(f"{kind:9} {row['head'][:10]} truth {row['acceptable']} {row['subject'][:60]!r} ours {words}")
        if ours["outcome"] == "admitted" and row["verdict"] == "admit":
            lists += 1
            missing = sorted(set(row["fail_to_pass"]) - set(ours["fail_to_pass"]))
            extra = sorted(set(ours["fail_to_pass"]) - set(row["fail_to_pass"]))
            if missing or extra:
                print(f"lists     {row['head'][:10]} ({row['base_mode']}) missing {missing[:4]} extra {extra[:4]}")
            else:
                equal_lists += 1
    name = Path(truth_path).name
    print(f"{name}: {same} of {known} verdicts the same ({len(truth) - known} of {len(truth)} rows not mined)")
    print(f"{name}: {equal_lists} of {lists} fail-to-pass lists the same")
    return 0 if same == len(truth) and equal_lists == lists else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
