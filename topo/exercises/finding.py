"""What a check finds out about a student's file."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that an exercise asks for, and whether it is so."""

    passed: bool
    text: str
    # What to look at where it is not so.
    seen: tuple[str, ...] = ()
    # Whether the file cannot be used at all: nothing else was looked at.
    is_end: bool = False


class NotReadable(Exception):
    """A file cannot be checked at all; the text says why."""
