"""Exceptions that nobody expected while one input was handled: counted, told seldom, and the end of nothing.

What is wrong with a message is a `DecodeError`, and no fault. Anything else is a mistake of the program; that somebody
can send what brings it up must not take the other hosts' network from them. Told is where it happened and a digest of
the octets, to find them again in a capture: never the octets, nor the error's own text, which may quote them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from traceback import walk_tb

import wayname
from wayname.edge.boundary import Severity
from wayname.edge.outputs import Outputs
from wayname.event_limiter import EventLimiter

DIGEST_OCTETS = 8
# How long a manager whose timer failed is left alone: what made it fail may be due still.
REST = 0.1
_ROOT = Path(wayname.__file__).parent


class _Contained:
    """Hands on what goes wrong inside; a generator in its place costs as much as many an input does."""

    __slots__ = ("_note",)

    def __init__(self, note: Callable[[Exception], None]) -> None:
        self._note = note

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if not isinstance(error, Exception):
            return False
        self._note(error)
        return True


class Faults:
    """Counts faults by the kind of input, and lets the edge go on."""

    def __init__(self, outputs: Outputs) -> None:
        self.counts: Counter[str] = Counter()
        self._outputs = outputs
        self._event_limiter = EventLimiter[str]()
        self._rests: dict[str, float] = {}

    def contained(self, kind: str, now: float, octets: bytes = b"") -> _Contained:
        """Handle one input of a kind; whatever goes wrong stays inside."""
        return _Contained(lambda error: self.note(kind, error, now, octets))

    def contained_timer(self, manager: str, now: float) -> _Contained:
        """Let a manager do what is due; one that fails is called again after a rest, so that it does not spin."""

        def rest(error: Exception) -> None:
            self._rests[manager] = now + REST
            self.note(f"timer of {manager}", error, now)

        return _Contained(rest)

    def due(self, manager: str, at: float | None) -> float | None:
        """Return when a manager is to be called that wants it at a time."""
        return at if at is None or not self._rests else max(at, self._rests.get(manager, at))

    def note(self, kind: str, error: Exception, now: float, octets: bytes = b"") -> None:
        """Count a fault, and tell it unless one of its kind was told just now."""
        self.counts[kind] += 1
        more = self._event_limiter.untold_before(kind, now)
        if more is None:
            return
        what = f"{kind}: {type(error).__name__} at {where(error)}; the edge goes on"
        if octets:
            what += f" ({len(octets)} octets, SHA-256 {sha256(octets).hexdigest()[: 2 * DIGEST_OCTETS]}...)"
        if more:
            what += f" (and {more} more before)"
        self._outputs.event(now, "edge.fault", kind, what, Severity.ERROR)


def where(error: BaseException) -> str:
    """Return the innermost place of the package that an exception passed: file, line and function."""
    place = "an unknown place"
    for frame, line in walk_tb(error.__traceback__):
        file = Path(frame.f_code.co_filename)
        if file.is_relative_to(_ROOT):
            place = f"{file.relative_to(_ROOT).as_posix()}:{line} in {frame.f_code.co_name}"
    return place
