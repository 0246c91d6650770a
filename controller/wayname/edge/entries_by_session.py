"""The entries that each session wants, replaced as a whole."""

from __future__ import annotations

import finsy as fy

from wayname.edge.desired import Desired


class EntriesBySession:
    """What the sessions of one protocol have among the entries that the switch is to hold."""

    def __init__(self, desired: Desired) -> None:
        self._desired = desired
        self._of: dict[int, list[fy.P4TableEntry]] = {}

    def replace(self, session: int, wanted: list[fy.P4TableEntry]) -> None:
        """Want these for a session, by its number, and none of those before."""
        for old in self._of.pop(session, []):
            self._desired.remove(old)
        for new in wanted:
            self._desired.put(new)
        if wanted:
            self._of[session] = wanted
