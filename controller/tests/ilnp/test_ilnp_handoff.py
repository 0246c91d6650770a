"""Locator Updates: what peers are told and when, soft and hard hand-offs of live flows, updates that nobody answers."""

from __future__ import annotations

import pytest
from ilnp.network import (
    A1,
    A2,
    A3,
    A_NID,
    B1,
    B2,
    B3,
    B_NID,
    A,
    Network,
    Side,
    host,
    listed,
)

from wayname.ilnp.config import NonceUse
from wayname.ilnp.locator_update import LOCATOR_UPDATE, Listed, LocatorUpdate
from wayname.ilnp.locators import (
    IN_USE_TIME,
    LEAVING_LIFETIME,
    LEAVING_PREFERENCE,
    MOST_LOCATORS,
    HandOff,
    Host,
    LocalLocator,
    PeerLocators,
    Validity,
    hand_off,
)
from wayname.ilnp.nonce import nonce_of
from wayname.ilnp.outputs import Changed, Kind, Session
from wayname.ilnp.settings import GRACE_TIME, NONCE_TIME, OLD_LIST_TIME, Settings
from wayname.ilnp.states import UpdateState
from wayname.ilnp.vectors import L64, NID, Vector

LEAVING = LocalLocator(A1, draining=True)


def standing(settings: Settings | None = None) -> Network:
    network = Network(settings=settings)
    network.establish()
    return network


def last(side: Side) -> Session:
    """Return a session as the tables have it by now."""
    return [output.session for output in side.outputs if isinstance(output, Changed)][-1]


def updates(network: Network) -> list[LocatorUpdate]:
    """Return all Locator Updates that were sent."""
    uppers = [packet.upper_layer() for packet in network.seen]
    return [
        LocatorUpdate.decode(upper.data[1], upper.data[4:])
        for upper in uppers
        if upper.number == 58 and upper.data[0] == LOCATOR_UPDATE
    ]


def test_a_hard_hand_off_is_told_at_once_from_the_new_locator() -> None:
    network = standing()
    network.move(network.a, host(A_NID, A2))
    assert last(network.a).source == A2
    assert network.run(0.1) == ["A2 --ADVERTISEMENT-> B1", "B1 --ACKNOWLEDGEMENT-> A2"]
    assert last(network.b).destination == A2
    assert [one.locator for one in last(network.b).known] == [A2]
    assert network.a.entry().told.state is UpdateState.TOLD
    (moved,) = network.a.events(Kind.MOVED)
    assert "is gone, packets leave from 2001:0db8:00a0:0002 at once" in moved
    assert sum(isinstance(output, Changed) for output in network.a.outputs) == 1
    assert all(nonce_of(packet) for packet in network.seen[-2:])


def test_packets_from_the_new_locator_are_taken_before_the_update_arrives() -> None:
    network = standing()
    network.move(network.a, host(A_NID, A2))
    network.under_way.clear()
    network.say(network.a)
    network.run(0.1)
    assert network.b.accepted() == 1


def test_a_soft_hand_off_leaves_the_old_locator_when_the_peer_knows_the_new_one() -> None:
    network = standing()
    network.move(network.a, host(A_NID, LEAVING, A2))
    assert last(network.a).source == A1
    assert set(last(network.a).taken) == {A1, A2}
    network.run(0.1)
    assert last(network.a).source == A2
    assert last(network.b).destination == A2
    assert "the peer knows, packets leave from 2001:0db8:00a0:0002 now" in network.a.events(Kind.MOVED)[0]
    told = updates(network)[0].listed
    assert [one.locator for one in told] == [A2, A1]
    assert told[1].preference == LEAVING_PREFERENCE
    assert told[1].lifetime <= LEAVING_LIFETIME
    network.move(network.a, host(A_NID, A2))
    network.run(0.1)
    assert [one.locator for one in last(network.b).known] == [A2]


def test_a_locator_that_leaves_is_taken_for_a_while_after() -> None:
    network = standing()
    network.move(network.a, host(A_NID, LEAVING, A2))
    network.run(1)
    network.move(network.a, host(A_NID, A2))
    assert last(network.a).taken == (A2, A1)
    network.run(GRACE_TIME + 1)
    assert last(network.a).taken == (A2,)


def test_locators_that_leave_one_after_the_other_are_given_up_in_turn() -> None:
    network = standing()
    network.move(network.a, host(A_NID, A2))
    network.run(GRACE_TIME / 2)
    network.move(network.a, host(A_NID, A3))
    assert last(network.a).taken == (A3, A1, A2)
    network.run(GRACE_TIME / 2 + 1)
    assert last(network.a).taken == (A3, A2)
    network.run(GRACE_TIME / 2)
    assert last(network.a).taken == (A3,)


def stream(network: Network, seconds: float, each: float = 0.005) -> tuple[int, int]:
    """Let both send a datagram every few milliseconds; return how many each got."""
    for side in (network.a, network.b):
        side.outputs = []
    for _ in range(round(seconds / each)):
        network.say(network.a)
        network.say(network.b)
        network.run(each)
    network.run(0.1)
    return network.a.accepted(), network.b.accepted()


def test_a_soft_hand_off_loses_no_packet_of_a_live_stream() -> None:
    network = standing()
    got = [0, 0]
    for served in (host(A_NID, A1), host(A_NID, LEAVING, A2), host(A_NID, A2)):
        network.move(network.a, served)
        # The old locator works until the peer's packets to it have all arrived.
        network.a.works |= {A1}
        for at, count in enumerate(stream(network, 0.2)):
            got[at] += count
    assert got == [120, 120]


def test_a_hard_hand_off_loses_no_more_than_the_outage_and_a_round_trip() -> None:
    network = standing()
    outage, after, round_trip, each = 0.1, 0.3, 0.02, 0.005
    network.a.works.clear()
    assert stream(network, outage, each) == (0, 0)
    network.move(network.a, host(A_NID, A2))
    to_a, to_b = stream(network, after, each)
    assert to_b == after / each
    assert after / each - round_trip / each - 1 <= to_a < after / each


def test_an_update_that_is_lost_is_told_again_round_the_locators() -> None:
    network = Network(hosts=(host(A_NID, A1, A2), host(B_NID, B1, B2)))
    network.connect(network.a, listed(B1, B2))
    network.run(10)
    network.b.works.clear()
    network.move(network.a, host(A_NID, A2, A3))
    arrows = [arrow for arrow in network.run(100) if arrow != "timer"]
    ways = ["A2 --ADVERTISEMENT-> B1", "A3 --ADVERTISEMENT-> B1", "A2 --ADVERTISEMENT-> B2", "A3 --ADVERTISEMENT-> B2"]
    assert arrows == [*ways, *ways[:3]]
    assert "acknowledged none of 7 Locator Updates" in network.a.events(Kind.UNTOLD)[0]
    assert network.a.entry().told.state is UpdateState.UNHEARD


def test_both_move_at_once_and_find_each_other_by_the_dns() -> None:
    network = standing()
    network.move(network.a, host(A_NID, A2))
    network.move(network.b, host(B_NID, B2))
    network.run(100)
    assert network.a.events(Kind.UNTOLD)
    assert network.b.events(Kind.UNTOLD)
    network.a.endpoint.look_again(A, listed(B2), network.now)
    network.collect()
    network.run(10)
    assert network.a.entry().destination == B2
    assert network.b.entry().destination == A2
    assert network.a.entry().told.state is UpdateState.TOLD


def test_an_update_that_comes_twice_is_acknowledged_twice_and_taken_once() -> None:
    network = standing()
    network.move(network.a, host(A_NID, A2))
    advertisement = network.under_way[0][1]
    network.inject(advertisement)
    network.run(0.1)
    acknowledgements = [one for one in updates(network) if one.operation == 2]
    assert len(acknowledgements) == 2
    assert sum(isinstance(output, Changed) for output in network.b.outputs) == 1


def test_an_acknowledgement_repeats_the_advertisement() -> None:
    network = standing()
    network.move(network.a, host(A_NID, A2, A3))
    network.run(0.1)
    advertisement, acknowledgement = updates(network)
    assert advertisement.listed == acknowledgement.listed


def test_a_peer_of_a_host_with_two_locators_is_told_both_as_soon_as_the_session_stands() -> None:
    network = Network(hosts=(host(A_NID, A1, A2), host(B_NID, B1)))
    network.establish()
    network.run(1)
    assert set(network.b.entry().peer_locators.known) == {A1, A2}
    assert updates(network)[0].operation == 1


def test_serving_a_host_as_it_is_tells_nobody() -> None:
    network = standing()
    network.move(network.a, host(A_NID, A1))
    assert network.run(10) == []


def test_a_preference_that_changes_is_told_and_a_lifetime_is_not() -> None:
    network = standing()
    network.move(network.a, host(A_NID, LocalLocator(A1, 10, 200)))
    assert network.run(10) == []
    network.move(network.a, host(A_NID, LocalLocator(A1, 11, 200)))
    assert network.run(10) == ["A1 --ADVERTISEMENT-> B1", "B1 --ACKNOWLEDGEMENT-> A1"]


def test_a_move_while_the_same_is_being_told_starts_nothing_anew() -> None:
    network = standing()
    network.b.works.clear()
    network.move(network.a, host(A_NID, A2))
    network.run(1)
    network.move(network.a, host(A_NID, LocalLocator(A2, 10, 100)))
    assert network.a.entry().told.tries == 2


def test_a_late_acknowledgement_of_an_older_list_makes_the_last_one_be_told_again() -> None:
    network = standing()
    network.move(network.a, host(A_NID, A2))
    network.run(0.1)
    old = network.seen[-1]
    network.move(network.a, host(A_NID, A2, A3))
    network.run(0.1)
    network.inject(old)
    arrows = network.run(OLD_LIST_TIME + 1)
    assert arrows[-2:] == ["A2 --ADVERTISEMENT-> B1", "B1 --ACKNOWLEDGEMENT-> A2"]
    assert set(network.run(60)) <= {"timer"}


def test_a_peer_that_comes_back_late_is_told_again() -> None:
    network = standing()
    network.b.works.clear()
    network.move(network.a, host(A_NID, A2))
    network.run(1)
    network.move(network.a, host(A_NID, A2, A3))
    older = network.seen[-2]
    network.run(100)
    assert network.a.entry().told.state is UpdateState.UNHEARD
    network.b.works = {B1}
    network.inject(older)
    network.run(1)
    assert network.a.entry().told.state is UpdateState.TOLD
    assert set(network.b.entry().peer_locators.known) == {A2, A3}


def test_the_nonce_comes_back_onto_packets_after_a_move() -> None:
    network = standing(Settings(nonce_use=NonceUse.AT_FIRST))
    network.run(NONCE_TIME + 1)
    assert not network.a.entry().bears_nonce
    network.move(network.a, host(A_NID, A2))
    assert network.a.entry().bears_nonce
    network.run(NONCE_TIME + 1)
    assert not network.a.entry().bears_nonce


def test_the_destination_changes_when_its_lifetime_is_over_and_another_one_lives() -> None:
    network = Network(hosts=(host(A_NID, A1), host(B_NID, B1)))
    network.connect(network.a, [Listed(B1, 10, 30), Listed(B2, 20, 100)])
    network.run(5)
    assert network.a.entry().destination == B1
    network.run(30)
    assert network.a.entry().destination == B2
    network.run(70)
    assert {one.validity(network.now) for one in network.a.entry().peer_locators.known.values()} <= {
        Validity.EXPIRED,
        Validity.AGED,
    }
    assert network.a.entry().destination in (B1, B2)


def test_validity() -> None:
    locators = PeerLocators.of(listed(B1, lifetime=100), 0.0)
    known = locators.known[B1]
    assert known.validity(0.0) is Validity.VALID
    locators.use(B1, 50.0)
    assert known.validity(60.0) is Validity.ACTIVE
    assert known.validity(50.0 + IN_USE_TIME + 1) is Validity.AGED
    locators.use(B1, 110.0)
    assert known.validity(120.0) is Validity.EXPIRED
    locators.use(B2, 110.0)
    assert B2 not in locators


def test_a_locator_that_is_told_again_is_in_use_as_before() -> None:
    before = PeerLocators.of(listed(B1, B2), 0.0)
    before.use(B1, 50.0)
    after = PeerLocators.of(listed(B3, B1), 60.0, before)
    assert [one.validity(60.0) for one in after.known.values()] == [Validity.VALID, Validity.ACTIVE]


def test_the_best_locator_is_preferred_and_alive_and_in_use_if_none_lives() -> None:
    locators = PeerLocators.of([Listed(B2, 20, 100), Listed(B1, 10, 50), Listed(B3, 30, 100)], 0.0)
    assert (locators.best(0.0), locators.best(60.0), locators.best(1000.0)) == (B1, B2, B1)
    locators.use(B3, 990.0)
    assert locators.best(1000.0) == B3
    assert (locators.next_expiry(0.0), locators.next_expiry(60.0), locators.next_expiry(100.0)) == (50.0, 100.0, None)


def test_of_very_many_locators_the_most_preferred_are_kept() -> None:
    many = [Listed(L64(B1 + number), 1000 - number, 60) for number in range(200)]
    locators = PeerLocators.of(many, 0.0)
    assert len(locators.known) == MOST_LOCATORS
    assert locators.best(0.0) == L64(B1 + 199)


def test_how_a_hand_off_is_decided() -> None:
    assert hand_off(A1, host(A_NID, A1, A2)) is HandOff.NONE
    assert hand_off(A1, host(A_NID, LEAVING, A2)) is HandOff.SOFT
    assert hand_off(A2, host(A_NID, A1, A2)) is HandOff.SOFT
    assert hand_off(A1, host(A_NID, A2)) is HandOff.HARD


@pytest.mark.parametrize(
    ("locators", "reason"),
    [
        ((), "has 0 locators"),
        (tuple(LocalLocator(L64(A1 + number)) for number in range(MOST_LOCATORS + 1)), "has 17 locators"),
        ((LocalLocator(A1), LocalLocator(A1)), "twice"),
        ((LocalLocator(L64(0xFE80 << 48)),), "no locator that packets"),
        ((LocalLocator(A1, preference=1 << 16),), "0 to 65535"),
        ((LocalLocator(A1, lifetime=-1),), "0 to 65535"),
    ],
)
def test_hosts_that_cannot_be(locators: tuple[LocalLocator, ...], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Host(NID(1), locators)


def test_identities_stay_whatever_becomes_of_the_locators() -> None:
    network = standing()
    network.move(network.a, host(A_NID, A2))
    network.run(1)
    session = last(network.b)
    assert session.peer_identity == Vector(A1, A_NID).address
    assert session.destination == A2
