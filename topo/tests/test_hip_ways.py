"""When a HIP host leaves a pair of locators, follows its peer, and says that it is there."""

from ipaddress import IPv6Address

from wayname.session.keys import Pair
from wayname_lab.hip.pair_selection import KEEPALIVE, SEND_TIMEOUT, PairSelection
from wayname_lab.hip.pairs import pairs_of

HERE = [IPv6Address("2001:db8:1::a"), IPv6Address("2001:db8:2::a")]
THERE = [IPv6Address("2001:db8:1::b"), IPv6Address("2001:db8:2::b")]
PAIRS = pairs_of(HERE, THERE)


def test_pairs_of_one_provider_come_first() -> None:
    assert (
        Pair(HERE[0], THERE[0]),
        Pair(HERE[1], THERE[1]),
        Pair(HERE[0], THERE[1]),
        Pair(HERE[1], THERE[0]),
    ) == PAIRS


def test_what_is_not_answered_in_time_has_failed() -> None:
    ways = PairSelection(PAIRS)
    ways.sent(100)
    ways.sent(200)
    assert ways.next_timer() == 100 + SEND_TIMEOUT
    assert ways.leave_failed(99 + SEND_TIMEOUT) is None
    assert ways.leave_failed(100 + SEND_TIMEOUT) == PAIRS[0]
    assert ways.pair == PAIRS[1]
    assert ways.next_timer() is None


def test_each_way_has_its_time_and_the_first_comes_again() -> None:
    ways, now, left = PairSelection(PAIRS), 0, []
    for _ in PAIRS:
        ways.sent(now)
        now += SEND_TIMEOUT
        left.append(ways.leave_failed(now))
    assert tuple(left) == PAIRS
    assert ways.pair == PAIRS[0]


def test_what_is_heard_answers() -> None:
    ways = PairSelection(PAIRS)
    ways.sent(0)
    ways.heard(PAIRS[0], is_newest=True, wants_answer=False, now=1)
    assert ways.next_timer() is None
    assert ways.leave_failed(10 * SEND_TIMEOUT) is None


def test_who_hears_and_says_nothing_owes_a_keepalive() -> None:
    ways = PairSelection(PAIRS)
    ways.heard(PAIRS[0], is_newest=True, wants_answer=True, now=5)
    ways.heard(PAIRS[0], is_newest=True, wants_answer=True, now=6)
    assert ways.next_timer() == 5 + KEEPALIVE
    assert not ways.owes_keepalive(4 + KEEPALIVE)
    assert ways.owes_keepalive(5 + KEEPALIVE)
    ways.sent_keepalive()
    assert ways.next_timer() is None


def test_an_answer_is_a_sign_of_life_and_keepalives_want_none() -> None:
    ways = PairSelection(PAIRS)
    ways.heard(PAIRS[0], is_newest=True, wants_answer=True, now=5)
    ways.sent(6)
    assert not ways.owes_keepalive(5 + KEEPALIVE)
    ways.heard(PAIRS[0], is_newest=True, wants_answer=False, now=7)
    assert ways.next_timer() is None


def test_it_follows_the_peer() -> None:
    ways = PairSelection(PAIRS)
    ways.heard(PAIRS[2], is_newest=True, wants_answer=True, now=5)
    assert ways.pair == PAIRS[2]


def test_it_does_not_follow_stragglers_strangers_or_too_soon() -> None:
    ways = PairSelection(PAIRS)
    ways.heard(PAIRS[1], is_newest=False, wants_answer=True, now=5)
    ways.heard(Pair(HERE[0], IPv6Address("2001:db8:bad::1")), is_newest=True, wants_answer=True, now=6)
    assert ways.pair == PAIRS[0]
    ways.sent(10)
    ways.leave_failed(10 + SEND_TIMEOUT)
    ways.heard(PAIRS[0], is_newest=True, wants_answer=True, now=9 + 2 * SEND_TIMEOUT)
    assert ways.pair == PAIRS[1]
    ways.heard(PAIRS[0], is_newest=True, wants_answer=True, now=10 + 2 * SEND_TIMEOUT)
    assert ways.pair == PAIRS[0]


def test_with_one_pair_there_is_nowhere_to_go() -> None:
    ways = PairSelection(PAIRS[:1])
    ways.sent(0)
    assert ways.next_timer() is None
    assert ways.leave_failed(10 * SEND_TIMEOUT) is None
