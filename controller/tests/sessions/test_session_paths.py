"""The numbers that a session's paths have on the switch, as locators come and go."""

from __future__ import annotations

from ipaddress import IPv6Address, IPv6Network
from itertools import product

from wayname.session.keys import Pair, SessionKey
from wayname.session.path_numbers import MOST_PATHS
from wayname.session.session import Session
from wayname.shim6.config import Shim6

A1, A2, A3, B1, B2 = (IPv6Address(f"2001:db8:{text}") for text in ("1::a", "2::a", "3::a", "1::b", "2::b"))
VICTIM = IPv6Address("2001:db8:bad::7")
FIRST = Pair(A1, B1)


def pairs(local: tuple[IPv6Address, ...], peer: tuple[IPv6Address, ...]) -> list[Pair]:
    """Return all pairs, those of the first locators first."""
    return [Pair(*pair) for pair in product(local, peer)]


def session() -> Session:
    """Return a session with four paths."""
    made = Session(1, SessionKey(A1, B1), Shim6(prefixes=(IPv6Network("2001:db8:1::/64"),)), 5, 6, 1, 5.0)
    made.set_pairs(pairs((A1, A2), (B1, B2)), FIRST)
    return made


def test_paths_keep_their_numbers_while_locators_come_and_go() -> None:
    made = session()
    before = dict(made.paths)
    assert (made.path, made.pair, list(before)) == (0, FIRST, [0, 1, 2, 3])
    made.set_pairs(pairs((A1, A3), (B1, B2)), FIRST)
    assert {number: pair for number, pair in made.paths.items() if number < 2} == {0: before[0], 1: before[1]}
    assert [made.paths[2], made.paths[3]] == [Pair(A3, B1), Pair(A3, B2)]
    made.set_pairs(pairs((A1, A2, A3), (B1, B2)), FIRST)
    assert made.paths[2] == Pair(A3, B1)
    assert sorted(made.paths) == [0, 1, 2, 3, 4, 5]


def test_the_path_in_use_stays_until_another_one_is_proven() -> None:
    """A peer that says it is only at somebody else's address gets nothing sent there by that."""
    made = session()
    made.set_pairs(pairs((A1, A2), (VICTIM,)), FIRST)
    assert (made.path, made.pair) == (0, FIRST)
    assert set(made.ordered) == {Pair(A1, VICTIM), Pair(A2, VICTIM)}
    to = made.path_of(Pair(A2, VICTIM))
    assert to is not None
    made.move(to, "a probe was answered there")
    assert made.pair == Pair(A2, VICTIM)
    assert FIRST not in made.paths.values()


def test_a_set_up_from_where_the_peer_will_not_be_starts_there() -> None:
    made = Session(1, SessionKey(A1, B1), Shim6(prefixes=(IPv6Network("2001:db8:1::/64"),)), 5, 6, 1, 5.0)
    made.set_pairs(pairs((A1,), (VICTIM,)), FIRST)
    assert made.pair == FIRST
    assert made.ordered == (Pair(A1, VICTIM),)


def test_no_more_paths_than_four_bits_number() -> None:
    made = session()
    many = tuple(B1 + number for number in range(40))
    made.set_pairs(pairs((A2,), many), FIRST)
    assert len(made.paths) == MOST_PATHS
    assert max(made.paths) == MOST_PATHS - 1
    assert made.pair == FIRST
    assert set(made.ordered) < set(made.paths.values())
