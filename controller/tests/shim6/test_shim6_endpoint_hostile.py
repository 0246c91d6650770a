"""An endpoint that is sent anything at all, and one that is asked for too much."""

from __future__ import annotations

from ipaddress import IPv6Address

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shim6.network import A1, A2, A3, B1, A, B, Network, host

from wayname.shim6.outputs import Refused
from wayname.shim6.states import State
from wayname.wire import icmpv6, ipv6
from wayname.wire.checksum import internet_checksum
from wayname.wire.ipv6 import Packet
from wayname.wire.shim6.errors import MessageError


def sealed(octets: bytes) -> bytes:
    """Return a message with its checksum made right."""
    octets = octets[:4] + bytes(2) + octets[6:]
    return octets[:4] + internet_checksum(octets).to_bytes(2) + octets[6:]


def recorded() -> tuple[Network, list[Packet]]:
    """Return a network in the middle of things, and a packet of each kind that went over it."""
    network = Network()
    packets: list[Packet] = []

    def record() -> None:
        packets.extend(packet for _, packet in network.under_way)

    network.establish(network.a, A)
    record()
    network.drive(each=record)
    network.move(network.a, host(A1, A2, A3, generation=2))
    record()
    network.drive(each=record)
    network.restart(network.b)
    network.move(network.a, host(A1, generation=3))
    network.drive(each=record)
    network.establish(network.b, B._replace(instance=3))
    record()
    return network, packets


RECORDED = recorded()[1]


@settings(deadline=None, max_examples=150)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(RECORDED),
            st.lists(st.tuples(st.integers(0, 400), st.integers(1, 255)), max_size=4),
            st.booleans(),
            st.sampled_from([None, A1, A3, B1, IPv6Address("::")]),
        ),
        max_size=12,
    )
)
def test_changed_and_replayed_packets_break_nothing(
    deliveries: list[tuple[Packet, list[tuple[int, int]], bool, IPv6Address | None]],
) -> None:
    network, _ = recorded()
    for packet, changes, is_quoted, source in deliveries:
        octets = bytearray(packet.payload)
        for at, difference in changes:
            octets[at % len(octets)] ^= difference
        changed = Packet(source or packet.source, packet.destination, ipv6.SHIM6, sealed(bytes(octets)))
        if is_quoted:
            problem = icmpv6.Message(icmpv6.PARAMETER_PROBLEM, 1, bytes(4) + changed.encode())
            changed = problem.packet(packet.destination, packet.source)
        for side in (network.a, network.b):
            side.endpoint.receive(changed, network.now)
        network.under_way.clear()
        network.collect()
        network.step()
    for side in (network.a, network.b):
        assert not [output for output in side.take() if isinstance(output, Refused)]
        for context in side.endpoint.contexts:
            assert context.state is not State.IDLE
            assert side.endpoint.contexts.tagged(context.tag) is context


def test_more_locators_than_fit_are_refused_at_once() -> None:
    network = Network()
    many = [A1 + number for number in range(130)]
    with pytest.raises(MessageError, match="the most is 2048"):
        network.a.endpoint.serve(host(*many), network.now)
    network.establish(network.a, A)
    network.drive()
    found = network.b.endpoint.contexts.named(B)
    assert found is not None
    assert found.known.locators == {A1, A2}
