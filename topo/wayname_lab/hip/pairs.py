"""All pairs of locators of two hosts, in the order in which they are tried."""

from collections.abc import Sequence
from ipaddress import IPv6Address

from wayname.session.keys import Pair


def pairs_of(locators: Sequence[IPv6Address], theirs: Sequence[IPv6Address]) -> tuple[Pair, ...]:
    """Return every pair of locators, those first that are at one place in both lists."""
    straight = [Pair(*pair) for pair in zip(locators, theirs, strict=False)]
    return (*straight, *(pair for one in locators for other in theirs if (pair := Pair(one, other)) not in straight))
