"""What is remembered of those who have proven little yet: bounded by whom they come from, and in all.

Of a group (a prefix, a pair of prefixes) the oldest goes when it has more than its share, so whoever has one prefix
makes nobody forgotten but himself. Of all the oldest goes: how fast is for the caller to bound.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
G = TypeVar("G", bound=Hashable)


class BoundedBySource(Generic[K, V, G]):
    """Values by key, each of a group; the one that was put last is forgotten last."""

    def __init__(self, most: int, most_of_group: int) -> None:
        self._most = most
        self._most_of_group = most_of_group
        self._values: OrderedDict[K, tuple[V, G]] = OrderedDict()
        self._groups: dict[G, OrderedDict[K, None]] = {}

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: K) -> V | None:
        """Return a value."""
        found = self._values.get(key)
        return None if found is None else found[0]

    def put(self, key: K, value: V, group: G) -> None:
        """Remember a value as the newest of its group."""
        self.pop(key)
        self._values[key] = value, group
        of_group = self._groups.setdefault(group, OrderedDict())
        of_group[key] = None
        if len(of_group) > self._most_of_group:
            self.pop(next(iter(of_group)))
        elif len(self._values) > self._most:
            self.pop(next(iter(self._values)))

    def pop(self, key: K) -> V | None:
        """Forget a value, and return it."""
        found = self._values.pop(key, None)
        if found is None:
            return None
        value, group = found
        del self._groups[group][key]
        if not self._groups[group]:
            del self._groups[group]
        return value
