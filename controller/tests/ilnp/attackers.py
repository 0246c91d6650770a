"""What attackers of a session send, and what they must not change."""

from __future__ import annotations

from ilnp.network import (
    B_NID,
    M1,
    Network,
    Side,
    crossed,
)

from wayname.ilnp.handshake import Handshake
from wayname.ilnp.outputs import Event, Output, Send
from wayname.ilnp.vectors import Vector
from wayname.wire.icmpv6 import Message
from wayname.wire.ipv6 import Packet

ELSEWHERE = Vector(M1, B_NID)
GUESS = b"twelve bytes"


def standing() -> Network:
    network = Network()
    network.establish()
    return network


def state_of(side: Side) -> tuple[object, ...]:
    """Return all that an attack could change."""
    entry = side.entry()
    return crossed(entry), entry.source, entry.destination, tuple(entry.peer_locators.known), entry.told.listed


def attack(network: Network, packet: Packet) -> list[Event]:
    """Let a packet arrive at A; see that it changed nothing and was answered with nothing; return what is said."""
    before = state_of(network.a)
    network.a.endpoint.receive(packet, network.now)
    assert state_of(network.a) == before
    outputs = network.a.endpoint.take_outputs()
    events = [output for output in outputs if isinstance(output, Event)]
    assert events == outputs
    return events


def nonce_given(output: Output) -> bytes:
    """Return the nonce in an answer."""
    assert isinstance(output, Send)
    return Handshake.decode(0, Message.decode(output.packet).body).source_nonce
