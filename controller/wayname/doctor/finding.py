"""What was looked at, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """How bad it is."""

    OK = "ok"
    WARNING = "warning"
    FAILURE = "failure"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; the mend is a command to copy, or words where there is none."""

    check: str
    state: State
    text: str
    mend: str = ""


def ok(check: str, text: str) -> Finding:
    """Return that nothing is wrong."""
    return Finding(check, State.OK, text)


def warning(check: str, text: str, mend: str) -> Finding:
    """Return that something works badly, or not always."""
    return Finding(check, State.WARNING, text, mend)


def failure(check: str, text: str, mend: str) -> Finding:
    """Return that something does not work."""
    return Finding(check, State.FAILURE, text, mend)
