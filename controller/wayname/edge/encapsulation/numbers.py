"""Numbers of things on the switch, made of what they are, so that a change leaves those of others alone."""

from __future__ import annotations

import zlib
from collections.abc import Iterable


class Numbers:
    """Gives each text a number from 1 to the most there are."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._numbers: dict[str, int] = {}

    def assign(self, texts: Iterable[str]) -> dict[str, int]:
        """Number these texts: known ones as before, new ones by numbers that nothing had until now.

        So an entry of what goes is never rewritten into one of what comes while packets are still led to it.
        """
        taken = set(self._numbers.values())
        numbers: dict[str, int] = {}
        for text in sorted(set(texts)):
            number = self._numbers.get(text)
            if number is None:
                number = self._free(zlib.crc32(text.encode()) % self._most, taken)
                taken.add(number)
            numbers[text] = number
        self._numbers = numbers
        return numbers

    def of(self, text: str) -> int:
        """Return the number of a text that was assigned last."""
        return self._numbers[text]

    def _free(self, start: int, taken: set[int]) -> int:
        return next(number for step in range(self._most) if (number := (start + step) % self._most + 1) not in taken)
