"""What a recorded Rust set-up downloads, and how cargo takes it without a registry. Pure.

cargo knows no variable for another source of crates, but a home that holds them is as good: the recorded commands have
their home beside the clone, so what it held when they ran is laid there before they run again.
"""

from __future__ import annotations

from typing import Final

from execution.languages.rust_check import HOME_FOLDER
from execution.package_plan import PACKAGES_DIR, PackagePlan

_HOME: Final = f"../{HOME_FOLDER}"
# Not the unpacked sources: cargo unpacks the archives again, and holds those to the hashes of the lock file.
_HELD: Final = ("registry/index", "registry/cache", "git/db")


def package_plan(setup: tuple[str, ...], base: str) -> PackagePlan:
    """Return how the crates of a recorded set-up are fetched; ``base`` is the commit whose tree it reads."""
    kept = "; ".join(
        f"if test -d {_HOME}/{part}; then mkdir -p {PACKAGES_DIR}/cargo/{part} && cp -R {_HOME}/{part}/."
        f" {PACKAGES_DIR}/cargo/{part}; fi"
        for part in _HELD
    )
    return PackagePlan(
        decided_by=(*setup, base) if setup else (),
        filling=(*setup, f"set -e; {kept}") if setup else (),
        variables={"CARGO_NET_OFFLINE": "true"},
        laid={"cargo": _HOME},
    )
