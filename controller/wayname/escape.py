"""Texts that somebody else chose, as they can be shown: on a terminal, in a log, in a metric, on a page.

What is no printable letter (controls and with them what steers a terminal, marks that turn the direction of writing,
separators of lines) is written as an escape. What is escaped already stays as it is.
"""

from __future__ import annotations

from typing import TypeVar, cast

T = TypeVar("T")


def escaped(text: str) -> str:
    """Return a text in one line of printable letters."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


def escaped_inside(value: T) -> T:
    """Return a value of JSON with all texts in it escaped."""
    match value:
        case str():
            return cast("T", escaped(value))
        case dict():
            return cast("T", {escaped_inside(key): escaped_inside(inner) for key, inner in value.items()})
        case list():
            return cast("T", [escaped_inside(inner) for inner in value])
    return value
