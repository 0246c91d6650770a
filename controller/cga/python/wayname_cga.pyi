"""The search for the modifier of a cryptographically generated address (RFC 3972), on all cores."""

from typing import final

@final
class Search:
    """Modifiers from `start` on, until one makes Hash2 begin with 16 * sec zero bits."""

    def __init__(self, tail: bytes, sec: int, start: bytes) -> None:
        """`tail` is the encoded public key and the extension fields; `start` has 16 octets."""

    def run(self, threads: int, tries: int | None = ...) -> bytes | None:
        """Try at least `tries` modifiers, or without end; return the first that will do, or None; the GIL is free."""

    def stop(self) -> None:
        """End the run that is under way in another thread."""

    @property
    def tried(self) -> int:
        """Modifiers tried so far."""

    @property
    def next(self) -> bytes:
        """The start of a search that goes on where this one ended."""
