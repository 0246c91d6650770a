"""Numbers from 1 to 65535 for things by what they are, so that others that come or go leave their numbers alone."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Generic, TypeVar

_T = TypeVar("_T", bound=Hashable)


class ContentNumbers(Generic[_T]):
    """The numbers of things that are in use, by their texts; a thing that is assigned again keeps its number."""

    def __init__(self, text: Callable[[_T], str], things: Iterable[_T] = ()) -> None:
        self._text = text
        self._numbers: dict[_T, int] = {}
        self._taken: set[int] = set()
        # So that it does not matter in which order a configuration has them.
        for thing in sorted(things, key=text):
            self.assign(thing)

    def __getitem__(self, thing: _T) -> int:
        return self._numbers[thing]

    def __contains__(self, thing: object) -> bool:
        return thing in self._numbers

    def __iter__(self) -> Iterator[_T]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def assign(self, thing: _T) -> int:
        """Return the number of a thing, which is new if the thing is."""
        if thing not in self._numbers:
            number = zlib.crc32(self._text(thing).encode()) % 0xFFFF
            while number in self._taken:
                number = (number + 1) % 0xFFFF
            self._taken.add(number)
            self._numbers[thing] = number + 1
        return self._numbers[thing]

    def release(self, thing: _T) -> int:
        """Give back the number of a thing, and return it."""
        number = self._numbers.pop(thing)
        self._taken.discard(number - 1)
        return number
