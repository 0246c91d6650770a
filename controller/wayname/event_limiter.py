"""Words about what anybody can send: one of a kind a second, so that a flood of packets is none of words."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

EVERY = 1.0

Kind = TypeVar("Kind", bound=Hashable)


class EventLimiter(Generic[Kind]):
    """Says which is to be told, and how many of its kind were not since the last."""

    def __init__(self) -> None:
        self._told: dict[Kind, float] = {}
        self._untold: dict[Kind, int] = {}

    def untold_before(self, kind: Kind, now: float) -> int | None:
        """Return how many were not told before this one; None if it is not told either."""
        if kind in self._told and now < self._told[kind] + EVERY:
            self._untold[kind] = self._untold.get(kind, 0) + 1
            return None
        self._told[kind] = now
        return self._untold.pop(kind, 0)
