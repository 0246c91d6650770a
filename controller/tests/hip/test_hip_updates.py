"""Hosts that move: what is told, what is verified, and what is sent where until then."""

from __future__ import annotations

import pytest
from hip.network import A1, A2, A3, ALICE, B1, B2, EASY, Network, message_of

from wayname.hip.association import Names
from wayname.hip.errors import MessageError, NotifyType
from wayname.hip.locator_set import Locator, LocatorSet, TrafficType, UnknownLocator
from wayname.hip.messages import Kind
from wayname.hip.outputs import Changed, Gone
from wayname.hip.parameters import Ack, EchoRequestSigned, EchoResponseSigned, Notification, Seq
from wayname.hip.peer_locators import CREDIT_AGING_INTERVAL, PeerLocators, Status
from wayname.hip.settings import Settings
from wayname.hip.states import State, Trigger
from wayname.hip.transports import EspInfo, EspTransform
from wayname.session.keys import Pair

ESP = Settings(least_difficulty=1, formats=(EspTransform.number,))


def standing(network: Network) -> tuple[set[object], object]:
    """Return where B sends to A, and where it may."""
    association = network.association(network.b)
    return {one.address for one in association.peer.active(network.now)}, association.peer.current


@pytest.mark.parametrize("settings", [EASY, ESP])
def test_a_move_is_told_verified_and_followed(settings: Settings) -> None:
    network = Network(settings).established()
    network.move(network.a, A2)
    told = message_of(network.under_way[0][1])
    assert (told.need(Seq).update, told.find(EspInfo) is None) == (0, settings is EASY)
    (locator,) = told.need(LocatorSet).locators
    assert isinstance(locator, Locator)
    assert (locator.address, locator.preferred, locator.spi is None) == (A2, True, settings is EASY)
    network.step()
    acknowledgement, question = (message_of(packet) for _, packet in network.under_way)
    assert acknowledgement.need(Ack).updates == (0,)
    nonce = question.need(EchoRequestSigned).data
    network.step()
    network.step()
    answer = message_of(network.under_way[0][1])
    assert answer.need(EchoResponseSigned).data == nonce
    # Not before the answer is there.
    assert standing(network)[1] == A1
    (waits,) = network.b.take()
    assert isinstance(waits, Changed)
    assert waits.standing.peer_locators == ()
    network.step()
    assert standing(network) == ({A2}, A2)
    (changed,) = network.b.take()
    assert isinstance(changed, Changed)
    assert (changed.standing.pair, changed.standing.peer_locators) == (Pair(B1, A2), (A2,))
    assert changed.standing.exchange == Pair(B1, A1)
    assert network.drive(10.0) == []


def test_several_locators_are_told_when_the_association_stands() -> None:
    network = Network()
    network.move(network.a, A1, A2, A3)
    network.established()
    network.drive(5.0)
    assert standing(network) == ({A1, A2, A3}, A1)


def test_both_ends_move_at_once() -> None:
    network = Network().established()
    network.move(network.a, A1, A2)
    network.move(network.b, B1, B2)
    network.drive(5.0)
    assert standing(network)[0] == {A1, A2}
    network.move(network.a, A2)
    network.move(network.b, B2)
    network.drive(20.0)
    assert standing(network) == ({A2}, A2)
    assert network.association(network.a).peer.current == B2


def test_a_dead_locator_is_told_by_one_that_lives() -> None:
    network = Network()
    network.move(network.a, A1, A2)
    network.established()
    network.drive(5.0)
    network.dead = {A1}
    network.move(network.a, A2)
    network.drive(10.0)
    assert standing(network) == ({A2}, A2)


@pytest.mark.parametrize("lost", range(4))
def test_updates_that_are_lost_come_again(lost: int) -> None:
    network = Network().established()
    network.move(network.a, A2)
    for _ in range(lost):
        network.step()
    network.lose()
    network.drive(5.0)
    assert standing(network) == ({A2}, A2)


@pytest.mark.parametrize("at", range(4))
def test_updates_that_come_twice_are_processed_once(at: int) -> None:
    network = Network().established()
    network.move(network.a, A2)
    for _ in range(at):
        network.step()
    network.inject(network.under_way[0][1])
    network.drive(5.0)
    assert standing(network) == ({A2}, A2)
    # One when A1 is gone, and one when A2 answered.
    assert len(network.b.take()) == 2


def test_a_set_that_was_overtaken_does_not_come_back() -> None:
    network = Network().established()
    network.move(network.a, A2)
    late = network.under_way.pop()[1]
    network.move(network.a, A3)
    network.drive(2.0)
    assert standing(network) == ({A3}, A3)
    network.inject(late)
    network.drive(2.0)
    assert standing(network) == ({A3}, A3)


def test_a_locator_that_does_not_answer_is_not_used() -> None:
    network = Network().established()
    network.dead = {A3}
    network.move(network.a, A1, A3)
    arrows = network.drive(20.0)
    assert arrows.count("B1 --UPDATE-x A3") == 4
    assert standing(network) == ({A1}, A1)
    assert network.b.events() == [f"{network.a.identity.hit} does not answer at {A3}, where it says that it is"]
    assert network.association(network.b).state is State.ESTABLISHED


def test_a_peer_that_answers_nothing_is_given_up() -> None:
    network = Network().established()
    network.dead = {B1}
    network.move(network.a, A2)
    network.drive(70.0)
    assert network.a.take() == [Gone(network.names, Trigger.BROKEN)]
    assert network.association(network.a).state is State.CLOSING


def test_update_numbers_go_round() -> None:
    network = Network().established()
    network.association(network.a).next_update = network.association(network.b).peer_next = (1 << 32) - 1
    for locators in ((A2,), (A3,), (A1,)):
        network.move(network.a, *locators)
        network.drive(2.0)
        assert standing(network)[1] == locators[0]
    assert network.association(network.b).peer_next < 10


def test_an_update_is_answered_before_r2_was_acknowledged_by_data() -> None:
    network = Network()
    network.connect(network.a)
    network.drive(1.0)
    assert network.association(network.b).state is State.R2_SENT
    network.move(network.a, A2)
    network.drive(2.0)
    assert network.association(network.b).state is State.ESTABLISHED


def test_no_data_goes_to_what_is_not_verified_beyond_what_was_earned() -> None:
    network = Network().established()
    names = Names(*reversed(network.names))
    network.b.endpoint.heard(names, 1000, network.now)
    assert network.b.endpoint.way(names, 5000, network.now) == Pair(B1, A1)
    network.move(network.a, A2)
    network.step()
    network.dead = {A2}
    assert network.b.endpoint.way(names, 600, network.now) == Pair(B1, A2)
    assert network.b.endpoint.way(names, 600, network.now) is None
    assert network.b.endpoint.way(names, 400, network.now) == Pair(B1, A2)
    network.b.endpoint.heard(names, 600, network.now)
    assert network.b.endpoint.way(names, 600, network.now) == Pair(B1, A2)
    network.dead = set()
    network.drive(5.0)
    assert network.b.endpoint.way(names, 5000, network.now) == Pair(B1, A2)


def test_credit_ages() -> None:
    peer = PeerLocators(A1)
    peer.take(LocatorSet((Locator(A2, preferred=True),)), 0.0)
    peer.earn(1000, 0.0)
    assert peer.destination(876, CREDIT_AGING_INTERVAL) is None
    assert peer.destination(875, CREDIT_AGING_INTERVAL) == A2


def test_locators_have_a_lifetime() -> None:
    peer = PeerLocators(A1)
    assert peer.take(LocatorSet((Locator(A1), Locator(A2, lifetime=60, preferred=True))), 0.0) == [A2]
    peer.known[A2].nonce = b"nonce"
    assert peer.verified(b"other") is None
    assert peer.verified(b"nonce") == A2
    assert (peer.choose(1.0), peer.current) == (True, A2)
    assert peer.known[A2].status_at(60.0) is Status.DEPRECATED
    assert (peer.choose(60.0), peer.current) == (True, A1)
    # It must be verified anew.
    assert peer.take(LocatorSet((Locator(A1), Locator(A2, lifetime=60))), 61.0) == [A2]


def test_a_set_without_locators_deprecates_all() -> None:
    peer = PeerLocators(A1)
    assert peer.take(LocatorSet(()), 0.0) == []
    assert (list(peer.active(0.0)), peer.destination(1, 0.0), peer.choose(0.0)) == ([], None, False)


def test_a_locator_whose_lifetime_is_over_is_left_by_itself() -> None:
    network = Network().established()
    network.move(network.a, A1, A2)
    network.drive(5.0)
    association = network.association(network.a)
    told = LocatorSet((Locator(A1), Locator(A2, lifetime=60, preferred=True)))
    octets = network.a.endpoint._updates._seal(association, [told, Seq(association.next_update)])
    association.next_update += 1
    network.a.endpoint._outbox.send(association.pair, octets)
    network.collect()
    network.drive(59.0)
    assert standing(network) == ({A1, A2}, A2)
    network.b.take()
    network.drive(2.0)
    assert standing(network) == ({A1}, A1)
    (changed,) = network.b.take()
    assert isinstance(changed, Changed)
    assert (changed.standing.pair, changed.standing.peer_locators) == (Pair(B1, A1), (A1,))
    # What is over has no timer any more; a set that comes later begins anew.
    assert network.drive(100.0) == []
    network.move(network.a, A2)
    network.drive(5.0)
    assert standing(network) == ({A2}, A2)


def test_locators_for_signalling_alone_get_no_data() -> None:
    peer = PeerLocators(A1)
    signalling = Locator(A2, preferred=True, traffic=TrafficType.SIGNALLING)
    for address in peer.take(LocatorSet((Locator(A1), signalling)), 0.0):
        peer.known[address].status = Status.ACTIVE
    assert (peer.choose(0.0), peer.destination(1, 0.0), [one.address for one in peer.active(0.0)]) == (False, A1, [A1])
    # One that is preferred for data alone goes before one that is preferred for all.
    data = Locator(A3, preferred=True, traffic=TrafficType.DATA)
    for address in peer.take(LocatorSet((Locator(A1, preferred=True), data)), 0.0):
        peer.known[address].status = Status.ACTIVE
    assert (peer.choose(0.0), peer.current) == (True, A3)


def test_a_preferred_locator_of_a_type_that_is_not_known_is_told_of() -> None:
    network = Network().established()
    strange = UnknownLocator(9, True, b"\0\x09\2\1\0\0\1\0whatever")
    association = network.association(network.a)
    octets = network.a.endpoint._updates._seal(association, [LocatorSet((strange, Locator(A1))), Seq(0)])
    network.a.endpoint._outbox.send(association.pair, octets)
    network.collect()
    network.step()
    kinds = [(one.kind, one.all(Notification)) for one in (message_of(packet) for _, packet in network.under_way)]
    told = Notification(NotifyType.LOCATOR_TYPE_UNSUPPORTED, strange.octets)
    assert kinds == [(Kind.NOTIFY, (told,)), (Kind.UPDATE, ())]


def test_an_acknowledgement_of_nothing_says_nothing_else() -> None:
    network = Network().established()
    network.dead = {A2}
    network.move(network.a, A1, A2)
    network.drive(0.1)
    nonce = network.association(network.b).peer.known[A2].nonce
    association = network.association(network.a)
    for number, active in ((77, {A1}), (0, {A1, A2})):
        octets = network.a.endpoint._updates._seal(association, [Ack((number,)), EchoResponseSigned(nonce)])
        network.a.endpoint._outbox.send(association.pair, octets)
        network.collect()
        network.drive(0.1)
        assert standing(network)[0] == active


def test_several_updates_are_acknowledged_at_once() -> None:
    network = Network().established()
    network.dead = {A2, A3}
    network.move(network.a, A1, A2, A3)
    network.drive(0.1)
    b = network.association(network.b)
    assert len(b.updates) == 2
    association = network.association(network.a)
    octets = network.a.endpoint._updates._seal(association, [Ack((*b.updates, 99))])
    network.a.endpoint._outbox.send(association.pair, octets)
    network.collect()
    network.drive(0.1)
    assert b.updates == {}


def test_a_host_has_no_locator_that_is_none() -> None:
    network = Network()
    for wrong in (A1.__class__("ff02::1"), ALICE.hit):
        with pytest.raises(ValueError, match="can be no locator"):
            network.move(network.a, A1, wrong)


def test_locators_that_are_none_are_refused_before_anything_changes() -> None:
    peer = PeerLocators(A1)
    for wrong in ("ff02::1", "::", "::1", "fe80::1", str(ALICE.hit)):
        with pytest.raises(MessageError, match="no locator of a host"):
            peer.take(LocatorSet((Locator(A2), Locator(type(A1)(wrong)))), 0.0)
    assert [one.address for one in peer.active(0.0)] == [A1]
    assert peer.take(LocatorSet((UnknownLocator(9, True, b""), Locator(A2))), 0.0) == [A2]


def test_updates_say_nothing_without_a_number() -> None:
    network = Network().established()
    association = network.association(network.a)
    octets = network.a.endpoint._updates._seal(association, [])
    network.a.endpoint._outbox.send(association.pair, octets)
    network.collect()
    network.drive(1.0)
    (event,) = network.b.events()
    assert "UPDATE with neither SEQ nor ACK" in event
