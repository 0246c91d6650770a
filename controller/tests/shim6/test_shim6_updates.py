"""Locators that come and go while a context stands (RFC 5533, section 10)."""

from __future__ import annotations

from itertools import pairwise

import pytest
from shim6.network import A1, A2, A3, B1, A, B, Network, Side, host

from wayname.session.keys import Pair, SessionKey
from wayname.shim6.context import Context
from wayname.shim6.outputs import Ready
from wayname.wire import ipv6
from wayname.wire.ipv6 import Packet
from wayname.wire.shim6.messages import Keepalive, UpdateAcknowledgement, UpdateRequest, decode, encode

WIDER = host(A1, A2, A3, generation=2)


def context(side: Side, name: SessionKey) -> Context:
    """Return a context that must be there."""
    found = side.endpoint.contexts.named(name)
    assert found is not None
    return found


@pytest.fixture
def network() -> Network:
    """Return a network whose context A1, B1 stands."""
    network = Network()
    network.establish(network.a, A)
    network.drive()
    assert (network.a.take(), network.b.take()) == ([Ready(A)], [Ready(B)])
    return network


def assert_told(network: Network) -> None:
    """Check that B knows where A is, and that nothing is under way."""
    assert context(network.b, B).known.locators == network.a.host.locators
    assert context(network.a, A).telling is None
    assert network.step() is None


def test_a_locator_appears(network: Network) -> None:
    network.move(network.a, WIDER)
    assert network.step() == "A1 --UPDATE_REQUEST-> B1"
    assert network.b.take() == [Ready(B)]
    assert network.step() == "B1 --UPDATE_ACKNOWLEDGEMENT-> A1"
    assert_told(network)
    assert network.a.take() == []


def test_a_locator_disappears_and_packets_leave_it(network: Network) -> None:
    assert context(network.a, A).pair == (A1, B1)
    network.move(network.a, host(A2, ulid=A1, generation=2))
    assert context(network.a, A).pair == (A2, B1)
    assert network.step() == "A2 --UPDATE_REQUEST-> B1"
    assert context(network.b, B).pair == (B1, A2)
    assert network.step() == "B1 --UPDATE_ACKNOWLEDGEMENT-> A2"
    assert_told(network)


def test_requests_go_where_packets_go(network: Network) -> None:
    network.a.endpoint.go_by(A, Pair(A2, B1), network.now)
    assert not network.under_way
    network.move(network.a, WIDER)
    assert network.step() == "A2 --UPDATE_REQUEST-> B1"
    network.drive()
    assert_told(network)


def test_a_request_that_was_lost_follows_packets_at_once(network: Network) -> None:
    network.move(network.a, WIDER)
    for _ in range(6):
        assert network.lose() == "A1 --UPDATE_REQUEST-x B1"
        assert network.step() == "A timer"
    assert network.lose() == "A1 --UPDATE_REQUEST-x B1"
    network.a.endpoint.go_by(A, Pair(A2, B1), network.now)
    network.collect()
    assert network.step() == "A2 --UPDATE_REQUEST-> B1"
    assert network.step() == "B1 --UPDATE_ACKNOWLEDGEMENT-> A2"
    assert_told(network)


def test_all_locators_change(network: Network) -> None:
    network.move(network.a, host(A3, ulid=A1, generation=2))
    # B takes packets from where it knows A to be, so that the update must come from there.
    assert network.step() == "A1 --UPDATE_REQUEST-> B1"
    assert network.step() == "B1 --UPDATE_ACKNOWLEDGEMENT-> A1"
    assert context(network.a, A).pair == (A3, B1)
    assert_told(network)


def test_a_locator_that_is_gone_serves_until_the_peer_knows(network: Network) -> None:
    keepalive = Packet(B1, A2, ipv6.SHIM6, encode(Keepalive(context(network.a, A).tag)))
    network.move(network.a, host(A1, generation=2))
    request = network.under_way.pop()[1]
    network.inject(keepalive)
    assert network.step() == "B1 --KEEPALIVE-> A2"
    assert not network.under_way
    network.inject(request)
    network.drive()
    network.inject(keepalive)
    assert network.step() == "B1 --KEEPALIVE-> A2"
    assert network.lose() == "A2 --R1bis-x B1"


def test_requests_back_off_up_to_two_minutes_and_never_end(network: Network) -> None:
    network.move(network.a, WIDER)
    sent, nonces = [network.now], set()
    for _ in range(12):
        request = decode(network.under_way[0][1].payload)
        assert isinstance(request, UpdateRequest)
        nonces.add(request.nonce)
        assert network.lose() == "A1 --UPDATE_REQUEST-x B1"
        assert network.step() == "A timer"
        sent.append(network.now)
    for number, (one, following) in enumerate(pairwise(sent)):
        nominal = min(4 * 2**number, 120)
        assert 0.5 * nominal <= following - one <= 1.5 * nominal
    # The nonce is the same for all repetitions of one request.
    assert len(nonces) == 1
    network.drive()
    assert_told(network)


def test_a_lost_acknowledgement_is_made_good(network: Network) -> None:
    network.move(network.a, WIDER)
    assert network.step() == "A1 --UPDATE_REQUEST-> B1"
    assert network.lose() == "B1 --UPDATE_ACKNOWLEDGEMENT-x A1"
    assert network.step() == "A timer"
    network.drive()
    assert_told(network)
    # The second time there was nothing new.
    assert network.b.take() == [Ready(B)]


def test_newer_updates_take_the_place_of_older_ones(network: Network) -> None:
    network.move(network.a, WIDER)
    assert network.step() == "A1 --UPDATE_REQUEST-> B1"
    network.move(network.a, host(A1, A3, generation=3))
    # The acknowledgement of the first request says nothing of the second.
    assert network.step() == "B1 --UPDATE_ACKNOWLEDGEMENT-> A1"
    assert context(network.a, A).telling == network.a.host
    assert network.step() == "A1 --UPDATE_REQUEST-> B1"
    assert network.step() == "B1 --UPDATE_ACKNOWLEDGEMENT-> A1"
    assert_told(network)


def test_an_acknowledgement_of_nothing_is_ignored(network: Network) -> None:
    tag = context(network.a, A).tag
    network.inject(Packet(B1, A1, ipv6.SHIM6, encode(UpdateAcknowledgement(tag, 0))))
    assert network.drive() == ["B1 --UPDATE_ACKNOWLEDGEMENT-> A1"]
    assert_told(network)


def test_what_changes_during_a_set_up_is_told_afterwards() -> None:
    network = Network()
    network.establish(network.a, A)
    network.step()
    network.step()
    network.move(network.a, WIDER)
    assert network.step() == "A1 --I2-> B1"
    assert network.step() == "B1 --R2-> A1"
    assert network.step() == "A1 --UPDATE_REQUEST-> B1"
    assert network.step() == "B1 --UPDATE_ACKNOWLEDGEMENT-> A1"
    assert_told(network)


def test_a_peer_that_lost_the_context_is_told_by_its_recovery(network: Network) -> None:
    network.restart(network.b)
    network.move(network.a, WIDER)
    assert network.step() == "A1 --UPDATE_REQUEST-> B1"
    assert network.step() == "B1 --R1bis-> A1"
    assert network.step() == "A1 --I2bis-> B1"
    assert network.step() == "B1 --R2-> A1"
    assert_told(network)


def test_an_update_before_r2_waits_for_it() -> None:
    network = Network()
    network.establish(network.a, A)
    for _ in range(3):
        network.step()
    assert network.lose() == "B1 --R2-x A1"
    network.move(network.b, host(B1, generation=2))
    assert network.step() == "B1 --UPDATE_REQUEST-> A1"
    # The tag for an acknowledgement is not known yet.
    assert network.step() == "A1 --I2-> B1"
    assert network.step() == "B1 --R2-> A1"
    network.drive()
    assert context(network.a, A).known.locators == {B1}
    assert_told(network)


def test_updates_that_are_withdrawn_while_they_are_under_way(network: Network) -> None:
    before = network.a.host
    network.move(network.a, WIDER)
    network.move(network.a, before)
    assert network.step() == "A1 --UPDATE_REQUEST-> B1"
    assert context(network.b, B).known.locators == WIDER.locators
    assert network.step() == "A1 --UPDATE_REQUEST-> B1"
    network.drive()
    assert_told(network)


def test_all_locators_change_and_the_old_ones_are_dead(network: Network) -> None:
    network.move(network.a, host(A3, ulid=A1, generation=2))
    assert network.lose() == "A1 --UPDATE_REQUEST-x B1"
    assert network.step() == "A timer"
    assert network.step() == "A3 --UPDATE_REQUEST-> B1"
    assert network.step() == "B1 --R1bis-> A3"
    assert network.step() == "A3 --I2bis-> B1"
    assert network.step() == "B1 --R2-> A3"
    assert context(network.b, B).pair == (B1, A3)
    assert_told(network)
