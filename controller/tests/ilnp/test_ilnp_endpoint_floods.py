"""Floods of requests, of packets with nonces and of events: what they cost, and who is served meanwhile."""

from __future__ import annotations

import random
import tracemalloc

from ilnp.attackers import GUESS, attack, nonce_given, standing
from ilnp.network import (
    A1,
    HERE,
    M1,
    M_NID,
    THERE,
    Network,
    data,
    handshake,
    listed,
    update,
)

from wayname.ilnp.handshake import Control, Handshake
from wayname.ilnp.outputs import Event, Kind, Send
from wayname.ilnp.policies import PrefixRate
from wayname.ilnp.settings import Settings
from wayname.ilnp.vectors import L64, NID, Vector
from wayname.wire.ipv6 import Packet


def requests(count: int) -> list[Packet]:
    """Return requests from identifiers and locators at random."""
    rng = random.Random(3)
    packets = []
    for _ in range(count):
        source = Vector(L64(0x2001_0DB8_0000_0000 + rng.getrandbits(32)), NID(rng.getrandbits(63) + 1))
        packets.append(handshake(source, THERE, Handshake(Control.REQUEST, rng.randbytes(11) + b"\1")))
    return packets


def test_a_flood_of_requests_costs_no_memory() -> None:
    network = Network()
    flood = requests(2000)
    for packet in flood[:100]:
        network.b.endpoint.receive(packet, network.now)
    network.b.endpoint.take_outputs()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for packet in flood[100:]:
            network.b.endpoint.receive(packet, network.now)
            network.b.endpoint.take_outputs()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert (len(network.b.endpoint.cache), network.b.endpoint.next_timer()) == (0, None)
    assert grown < 2000
    network.connect(network.a)
    network.run(1)
    assert network.agree()


def test_each_request_is_answered_with_one_packet_that_is_no_longer() -> None:
    network = Network()
    for packet in requests(50):
        network.b.endpoint.receive(packet, network.now)
        (answer,) = network.b.endpoint.take_outputs()
        assert isinstance(answer, Send)
        assert len(answer.packet.encode()) == len(packet.encode())


def flood_of_data(network: Network, count: int) -> None:
    rng = random.Random(4)
    for _ in range(count):
        source = Vector(A1, NID(rng.getrandbits(63) + 1))
        network.b.endpoint.receive(data(source, THERE, rng.randbytes(12)), network.now)
        network.now += 0.001


def test_a_flood_of_packets_with_nonces_makes_no_entry() -> None:
    network = Network()
    flood_of_data(network, 1000)
    assert len(network.b.endpoint.cache) == 0
    outputs = network.b.endpoint.take_outputs()
    assert len(outputs) <= 2
    assert all(isinstance(output, Event) for output in outputs)


def test_the_naive_policy_makes_an_entry_of_each_and_warns() -> None:
    network = Network(settings=Settings(capacity=700, naive=True))
    network.collect()
    (warning,) = network.b.events(Kind.NAIVE)
    assert "to be measured, not to be used" in warning
    flood_of_data(network, 1000)
    assert len(network.b.endpoint.cache) == 700
    network.collect()
    assert "all 700 places" in network.b.events(Kind.REFUSED)[0]


def test_one_prefix_with_many_identifiers_gets_its_rate_and_others_are_served() -> None:
    network = Network(policies=[PrefixRate(random.Random(1), rate=1, burst=5)])
    rng = random.Random(6)
    for number in range(50):
        source = Vector(M1, NID(M_NID + number))
        request = Handshake(Control.REQUEST, rng.randbytes(11) + b"\1")
        network.b.endpoint.receive(handshake(source, THERE, request), network.now)
        for answer in network.b.endpoint.take_outputs():
            if isinstance(answer, Event):
                assert "more than 1 new sessions a second from the prefix" in answer.words
            if not isinstance(answer, Send):
                continue
            given = nonce_given(answer)
            proof = Handshake(Control.ACKNOWLEDGE, request.source_nonce, given)
            network.b.endpoint.receive(handshake(source, THERE, proof), network.now)
    assert len(network.b.endpoint.cache) == 5
    network.connect(network.a)
    network.run(1)
    assert network.agree()


def test_a_flood_of_events_is_counted_not_told() -> None:
    network = standing()
    for _ in range(100):
        network.a.endpoint.receive(update(THERE, HERE, listed(M1), GUESS), network.now)
    assert len(network.a.endpoint.take_outputs()) == 1
    network.now += 2
    (event,) = attack(network, update(THERE, HERE, listed(M1), GUESS))
    assert event.others == 99
