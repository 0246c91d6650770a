"""In which order pairs of locators are tried (RFC 5534, section 4.3)."""

from __future__ import annotations

from collections.abc import Iterable

from wayname.session.keys import Pair


def disjoint_first(pairs: Iterable[Pair], failed: Pair, first: Pair | None = None) -> tuple[Pair, ...]:
    """Return pairs in the order of an exploration: what shares no locator with the failed pair, then the rest.

    `first` leads if it is known of a pair that it may work; the failed pair comes last.
    """

    def rank(pair: Pair) -> int:
        if pair == first:
            return 0
        return 3 if pair == failed else 1 + (pair.local == failed.local or pair.peer == failed.peer)

    return tuple(sorted(pairs, key=rank))
