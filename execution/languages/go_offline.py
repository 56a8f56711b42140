"""What a recorded Go set-up downloads, and how Go takes it from a folder in place of a module proxy. Pure."""

from __future__ import annotations

from typing import Final

from execution.package_plan import FOLDER_URL, PACKAGES_DIR, PackagePlan

# Go's own cache of downloads has the layout of a module proxy.
_DOWNLOADED: Final = "../env/modules/cache/download"
_FETCHES: Final = " go mod download"


def package_plan(setup: tuple[str, ...], base: str) -> PackagePlan:
    """Return how the modules of a recorded set-up are fetched; ``base`` is the commit whose tree it reads."""
    fetches = tuple(command for command in setup if _FETCHES in command)
    keep = f"mkdir -p {PACKAGES_DIR}/go && if test -d {_DOWNLOADED}; then cp -R {_DOWNLOADED}/. {PACKAGES_DIR}/go; fi"
    return PackagePlan(
        decided_by=(*setup, base) if fetches else (),
        filling=(*setup, keep) if fetches else (),
        variables={"GOPROXY": f"{FOLDER_URL}/go"},
        passing=("go/sumdb",),
    )
