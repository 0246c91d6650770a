"""tshark reads every message that an endpoint makes, with its own dissector.

Seen with version 4.0.17: it looks for the algorithm of a HOST_ID where version 1 had it, and so complains of one that
it does not know, and takes the last octets of a key for a name. Nothing else may be marked.
"""

from __future__ import annotations

import shutil
from ipaddress import IPv6Address

import pytest
from hip.keys import eddsa, rsa_identity
from hip.network import A2, ALICE, BOB, EASY, Network, anybody, message_of
from hip.test_hip_codec import EVERY, HIT_A, HIT_B, A, B, on_the_wire
from shim6.test_shim6_tshark import read

from wayname.hip.association import Names
from wayname.hip.identities import Identity
from wayname.hip.messages import Kind, Message
from wayname.hip.parameters import HostId, Parameter
from wayname.hip.settings import Settings
from wayname.hip.transports import EspTransform
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
    for message, (malformed, complaints, status, kind, numbers) in zip(messages, seen, strict=True):
        assert (malformed, status, kind) == ([], ["1"], [str(int(message.kind))])
        assert set(complaints) <= (KNOWN if message.find(HostId) else set())
        assert [int(one) for one in numbers] == [one.number for one in message.parameters]


def test_it_reads_a_refusal() -> None:
    def nobody(names: Names, *_: object) -> str:
        return f"{names.peer} is not wanted"

    network = Network(policies=(anybody, nobody))
    network.connect(network.a)
    for _ in range(3):
        network.step()
    (packet,) = (packet for _, packet in network.under_way)
    ((malformed, complaints, kind),) = read([packet.encode()], "hip.tlv.notification_type", ours=False)
    assert (malformed, complaints, kind) == ([], [], ["42"])


@pytest.mark.parametrize(
    "one", [one for one in EVERY if not isinstance(one, HostId)], ids=lambda one: type(one).__name__
)
def test_it_reads_each_parameter(one: Parameter) -> None:
    packet = Packet(IPv6Address(A), B, HIP, on_the_wire(Message(Kind.UPDATE, HIT_A, HIT_B, (one,))))
    ((malformed, complaints, numbers),) = read([packet.encode()], "hip.type", ours=False)
    assert (malformed, complaints, numbers) == ([], [], [str(one.number)])
