"""Which pairs of locators there are, and in which order they are tried (RFC 5534, section 4.3)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from ipaddress import IPv6Address
from itertools import product

from wayname.session.keys import Pair
from wayname.shim6.context import KnownPeer
from wayname.wire.shim6.options import Preference, PreferenceFlag

MOST_PAIRS = 16
LEAST_PRIORITY = 255


class LocatorState(IntEnum):
    """What a locator of ours may be used for (RFC 5534, section 3.1; RFC 4862)."""

    PREFERRED = 0
    DEPRECATED = 1  # if there is nothing better
    TENTATIVE = 2  # not yet


def usable_pairs(local: Mapping[IPv6Address, LocatorState], known: KnownPeer, identities: Pair) -> list[Pair]:
    """Return the pairs that may be tried, best first.

    Where nothing else is said of locators, the identities lead; next comes what shares no locator with them. Of very
    many pairs both ends choose the same ones, since each takes packets only from pairs that it knows.
    """
    preferences = _preferences(known)

    def rank(pair: Pair) -> tuple[int, bool, int, int, Pair]:
        asked = preferences.get(pair.peer)
        transient = asked is not None and PreferenceFlag.TRANSIENT in asked.flags
        priority = LEAST_PRIORITY if asked is None or asked.priority is None else asked.priority
        shared = (pair.local == identities.local) + (pair.peer == identities.peer)
        return local[pair.local], transient, priority, {2: 0, 0: 1}.get(shared, 2), pair

    ours = [address for address, state in local.items() if state is not LocatorState.TENTATIVE]
    theirs = [address for address in known.locators if not _is_broken(preferences.get(address))]
    return sorted(_spread(ours, theirs, identities), key=rank)


def _spread(ours: list[IPv6Address], theirs: list[IPv6Address], identities: Pair) -> list[Pair]:
    """Return the pairs, of very many those that have each locator in as many of them as possible.

    The locators of each end in order, its identity first; the pairs with the nearest places, where the shorter list
    begins again: so does the other end.
    """
    if len(ours) * len(theirs) <= MOST_PAIRS:
        return [Pair(*pair) for pair in product(ours, theirs)]
    here, there = (
        {address: place for place, address in enumerate(sorted(addresses, key=lambda one: (one != identity, one)))}
        for addresses, identity in ((ours, identities.local), (theirs, identities.peer))
    )

    shorter = min(len(here), len(there))

    def distance(pair: Pair) -> tuple[int, tuple[int, ...]]:
        places = here[pair.local], there[pair.peer]
        in_order = places if identities.local < identities.peer else places[::-1]
        return abs(places[0] % shorter - places[1] % shorter), in_order

    return sorted((Pair(*pair) for pair in product(ours, theirs)), key=distance)[:MOST_PAIRS]


def _preferences(known: KnownPeer) -> dict[IPv6Address, Preference]:
    if known.listed is None or known.preferences is None:
        return {}
    addresses = (locator.address for locator in known.listed.locators)
    return dict(zip(addresses, known.preferences.preferences, strict=True))


def _is_broken(asked: Preference | None) -> bool:
    return asked is not None and PreferenceFlag.BROKEN in asked.flags
