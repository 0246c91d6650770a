"""Which pairs are tried, and in which order."""

from __future__ import annotations

from itertools import product

import pytest
from shim6.network import A1, A2, A3, B1, B2, B3

from wayname.session.keys import Pair
from wayname.session.reap.order import disjoint_first
from wayname.shim6.context import KnownPeer
from wayname.shim6.pairs import MOST_PAIRS, LocatorState, usable_pairs
from wayname.wire.shim6.options import Locator, LocatorList, LocatorPreferences, Preference, PreferenceFlag

IDENTITIES = Pair(A1, B1)
LISTED = LocatorList(4, tuple(Locator(address, 1) for address in (B1, B2, B3)))


def known(*preferences: Preference) -> KnownPeer:
    """Return what a peer with three locators told of them."""
    asked = LocatorPreferences(4, preferences) if preferences else None
    return KnownPeer(frozenset({B1, B2, B3}), LISTED, asked)


def test_the_identities_lead_and_tentative_locators_are_not_used_yet() -> None:
    local = {A1: LocatorState.PREFERRED, A2: LocatorState.PREFERRED, A3: LocatorState.TENTATIVE}
    pairs = usable_pairs(local, known(), IDENTITIES)
    assert pairs[0] == IDENTITIES
    assert set(pairs) == {Pair(*pair) for pair in product((A1, A2), (B1, B2, B3))}


def test_deprecated_locators_come_last() -> None:
    local = {A1: LocatorState.DEPRECATED, A2: LocatorState.PREFERRED}
    assert [pair.local for pair in usable_pairs(local, known(), IDENTITIES)] == [A2] * 3 + [A1] * 3


@pytest.mark.parametrize(
    ("preferences", "expected"),
    [
        ((Preference(PreferenceFlag.BROKEN), Preference(PreferenceFlag(0)), Preference(PreferenceFlag(0))), [B2, B3]),
        (
            (Preference(PreferenceFlag.TRANSIENT), Preference(PreferenceFlag(0)), Preference(PreferenceFlag(0))),
            [B2, B3, B1],
        ),
        (
            (
                Preference(PreferenceFlag(0), 9),
                Preference(PreferenceFlag(0), 1),
                Preference(PreferenceFlag(0), 5),
            ),
            [B2, B3, B1],
        ),
    ],
)
def test_the_peer_says_what_it_thinks_of_its_locators(
    preferences: tuple[Preference, ...], expected: list[object]
) -> None:
    pairs = usable_pairs({A1: LocatorState.PREFERRED}, known(*preferences), IDENTITIES)
    assert [pair.peer for pair in pairs] == expected


def test_no_more_pairs_than_a_session_has_paths() -> None:
    local = {A1 + number: LocatorState.PREFERRED for number in range(9)}
    pairs = usable_pairs(local, known(), IDENTITIES)
    assert len(pairs) == MOST_PAIRS
    assert pairs[0] == IDENTITIES


@pytest.mark.parametrize("ours", range(1, 11))
@pytest.mark.parametrize("theirs", range(1, 11))
def test_both_ends_choose_the_same_pairs(ours: int, theirs: int) -> None:
    a, b = [A1 + number for number in range(ours)], [B1 - number for number in range(theirs)]
    chosen = [
        usable_pairs(dict.fromkeys(local, LocatorState.PREFERRED), KnownPeer(frozenset(peers)), identities)
        for local, peers, identities in ((a, b, Pair(A1, B1)), (b, a, Pair(B1, A1)))
    ]
    assert {(pair.peer, pair.local) for pair in chosen[1]} == set(chosen[0])
    assert {pair.local for pair in chosen[0]} == set(a)
    assert {pair.peer for pair in chosen[0]} == set(b)


def test_an_exploration_begins_with_what_shares_no_locator_with_the_failed_pair() -> None:
    pairs = [Pair(*pair) for pair in product((A1, A2, A3), (B1, B2))]
    order = disjoint_first(pairs, Pair(A1, B1))
    assert order == (Pair(A2, B2), Pair(A3, B2), Pair(A1, B2), Pair(A2, B1), Pair(A3, B1), Pair(A1, B1))
    assert disjoint_first(pairs, Pair(A1, B1), Pair(A2, B1))[:2] == (Pair(A2, B1), Pair(A2, B2))
