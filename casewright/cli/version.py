"""Which casewright this is, as a case, a ledger and ``--version`` name it."""

from __future__ import annotations


def tool_version() -> str:
    """Return ``casewright`` and its version; ``casewright unknown`` in a checkout that was never installed."""
    # A dozen modules that `--help` and `cite` never need.
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"casewright {version('casewright')}"
    except PackageNotFoundError:
        return "casewright unknown"
