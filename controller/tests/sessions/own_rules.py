"""Rules as a user may write them, for test_own_rule.py."""

from __future__ import annotations

from wayname.shim6.heuristics import Candidate

NO_FUNCTION = 5


def long_talks(candidate: Candidate, now: float) -> str | None:
    """Object to what is short."""
    return "too short" if candidate.bytes < 1_000_000 else None


def failing(candidate: Candidate, now: float) -> str | None:
    """Fail."""
    raise KeyError(candidate.peer)


def yes(candidate: Candidate, now: float) -> bool:
    """Return what is no answer."""
    return True
