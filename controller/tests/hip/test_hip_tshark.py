"""tshark reads every message that an endpoint makes, with its own dissector.

Seen with version 4.0.17: it looks for the algorithm of a HOST_ID where version 1 had it, and so complains of one that
it does not know, and takes the last octets of a key for a name. Nothing else may be marked.
"""

from __future__ import annotations

import shutil
from ipaddress import IPv6Address

import pytest
from hip.keys import eddsa, rsa_identity
from hip.network import A1, A2, ALICE, B1, BOB, EASY, Network, anybody, message_of
from hip.test_hip_codec import EVERY, HIT_A, HIT_B, A, B, on_the_wire
from shim6.test_shim6_tshark import read

from wayname.hip.association import Names
from wayname.hip.errors import NotifyType
from wayname.hip.identities import Identity
from wayname.hip.locator_set import Locator, LocatorSet
from wayname.hip.messages import READERS, VERSION_AT, Kind, Message, encode, with_checksum
from wayname.hip.parameters import (
    Ack,
    DhGroupList,
    DiffieHellman,
    EchoRequestSigned,
    EchoResponseSigned,
    HostId,
    Notification,
    Parameter,
    Seq,
)
from wayname.hip.proofs import seal, sign
from wayname.hip.settings import Settings
from wayname.hip.suites import rhash_of
from wayname.hip.transports import EspInfo, EspTransform
from wayname.wire.ipv6 import HIP, Packet

pytestmark = pytest.mark.skipif(shutil.which("tshark") is None, reason="needs tshark")

KNOWN = {"Unknown algorithm type", "Trailing stray characters"}
ENCRYPTING = Settings(least_difficulty=1, formats=(EspTransform.number,))


def exchanged(network: Network) -> list[Packet]:
    """Return what passes in the life of an association, of each kind."""
    seen: dict[bytes, Packet] = {}

    def keep() -> None:
        seen.update((packet.encode(), packet) for _, packet in network.under_way)

    network.connect(network.a)
    keep()
    network.drive(40.0, keep)
    network.move(network.a, A2)
    keep()
    network.drive(5.0, keep)
    if network.a.settings is ENCRYPTING:
        network.a.endpoint.rekey(network.names, network.now)
        network.collect()
        keep()
        network.drive(5.0, keep)
    network.a.endpoint.disconnect(network.names, network.now)
    network.collect()
    keep()
    network.drive(5.0, keep)
    return list(seen.values())


@pytest.mark.parametrize("settings", [EASY, ENCRYPTING])
@pytest.mark.parametrize("which", range(3))
def test_it_reads_whole_associations(settings: Settings, which: int) -> None:
    identities: tuple[Identity, Identity] = ((ALICE, BOB), (ALICE, rsa_identity()), (eddsa(1), eddsa(2)))[which]
    packets = exchanged(Network(settings, identities=identities))
    messages = [message_of(packet) for packet in packets]
    assert {message.kind for message in messages} == set(Kind) - {Kind.NOTIFY}
    seen = read([one.encode() for one in packets], "hip.checksum.status", "hip.packet_type", "hip.type", ours=False)
    for message, (malformed, rate_limited_events, status, kind, numbers) in zip(messages, seen, strict=True):
        assert (malformed, status, kind) == ([], ["1"], [str(int(message.kind))])
        assert set(rate_limited_events) <= (KNOWN if message.find(HostId) else set())
        assert [int(one) for one in numbers] == [one.number for one in message.parameters]


def test_it_reads_a_refusal() -> None:
    def nobody(names: Names, *_: object) -> str:
        return f"{names.peer} is not wanted"

    network = Network(policies=(anybody, nobody))
    network.connect(network.a)
    for _ in range(3):
        network.step()
    (packet,) = (packet for _, packet in network.under_way)
    ((malformed, rate_limited_events, kind),) = read([packet.encode()], "hip.tlv.notification_type", ours=False)
    assert (malformed, rate_limited_events, kind) == ([], [], ["42"])


@pytest.mark.parametrize(
    "one", [one for one in EVERY if not isinstance(one, HostId)], ids=lambda one: type(one).__name__
)
def test_it_reads_each_parameter(one: Parameter) -> None:
    packet = Packet(IPv6Address(A), B, HIP, on_the_wire(Message(Kind.UPDATE, HIT_A, HIT_B, (one,))))
    ((malformed, rate_limited_events, numbers),) = read([packet.encode()], "hip.type", ours=False)
    assert (malformed, rate_limited_events, numbers) == ([], [], [str(one.number)])


def test_no_parameter_is_left_out() -> None:
    assert {one.number for one in EVERY} == set(READERS)


def test_it_reads_each_notification_and_each_error() -> None:
    told = [sign(Message(Kind.NOTIFY, HIT_A, HIT_B, (Notification(kind, b"data"),)), ALICE) for kind in NotifyType]
    packets = [Packet(IPv6Address(A), B, HIP, with_checksum(octets, A, B)) for octets in told]
    seen = read([packet.encode() for packet in packets], "hip.tlv.notification_type", ours=False)
    assert seen == [[[], [], [str(kind.value)]] for kind in NotifyType]
    # What an endpoint says about a message of another version points at the octet of the version.
    network = Network()
    octets = bytearray(encode(Message(Kind.I1, ALICE.hit, BOB.hit, (DhGroupList((8,)),))))
    octets[VERSION_AT] = 0x11
    network.b.endpoint.receive(Packet(A1, B1, HIP, with_checksum(bytes(octets), A1, B1)), network.now)
    network.collect()
    ((_, error),) = network.under_way
    ((malformed, _, kind, pointer),) = read([error.encode()], "icmpv6.type", "icmpv6.pointer", ours=False)
    assert (malformed, kind, pointer) == ([], ["4"], [str(40 + VERSION_AT)])


def test_it_reads_what_asks_and_answers_at_once() -> None:
    said: tuple[Parameter, ...] = (
        EspInfo(160, 0x1000, 0x2000),
        LocatorSet((Locator(A, 0x2000, 60, True), Locator(B, 0x2000))),
        Seq(7),
        Ack((5, 6)),
        DiffieHellman(8, bytes(96)),
        EchoRequestSigned(bytes(16)),
        EchoResponseSigned(bytes(16)),
    )
    octets = seal(Message(Kind.UPDATE, ALICE.hit, BOB.hit, said), ALICE, bytes(48), rhash_of(ALICE.hit))
    packet = Packet(IPv6Address(A), B, HIP, with_checksum(octets, A, B))
    ((malformed, rate_limited_events, numbers),) = read([packet.encode()], "hip.type", ours=False)
    assert (malformed, rate_limited_events) == ([], [])
    assert numbers[:7] == [str(one.number) for one in sorted(said, key=lambda one: one.number)]
