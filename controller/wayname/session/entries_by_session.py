"""The entries that each session wants, replaced as a whole."""

from __future__ import annotations

from itertools import zip_longest

import finsy as fy

from wayname.edge.desired_state import DesiredState


class EntriesBySession:
    """What the sessions of one protocol have among the entries that the switch is to hold."""

    def __init__(self, desired: DesiredState) -> None:
        self._desired = desired
        self._of: dict[int, list[fy.P4TableEntry]] = {}

    def replace(self, session: int, wanted: list[fy.P4TableEntry]) -> None:
        """Want these for a session, by its number, and none of those before.

        They come in the same order each time, and few change: those that are where they were are left alone.
        """
        before = self._of.pop(session, [])
        same = [old == new for old, new in zip(before, wanted, strict=False)]
        for old, is_same in zip_longest(before, same):
            if not is_same:
                self._desired.remove(old)
        for new, is_same in zip_longest(wanted, same):
            if not is_same:
                self._desired.put(new)
        if wanted:
            self._of[session] = [
                old if is_same else new for old, new, is_same in zip_longest(before[: len(wanted)], wanted, same)
            ]
