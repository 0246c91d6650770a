"""The provider's router on the link of a simulated switch: it says where it is, and what is sent to it comes back.

What comes of that to the controller is what the pipeline makes of it: a station that it did not know is told of, and an
echo request of the router to itself is a probe that came back, also where the controller itself submits it.
"""

from __future__ import annotations

from collections.abc import Iterator

from finsy.proto import p4d, p4r

from wayname.p4_constants import PacketOutKind, Punt, PuntClass
from wayname.pipeline.program import own_schema
from wayname.wire import discovery, icmpv6
from wayname.wire.discovery import NeighbourAdvertisement, NeighbourSolicitation
from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname.wire.ipv6 import ICMPV6, Packet
from wayname.wire.mac import Mac

# Where `wayname_lab.fleet.controllers` has it.
PORT, VLAN = 2, 100
MAC = Mac.parse("02:00:00:00:01:02")
# Of a frame without a tag, as the port has them.
NEXT_HEADER_AT, HOP_LIMIT_AT, ICMPV6_TYPE_AT = 20, 21, 54


class ProviderRouter:
    """That of one switch, and what the switch makes of what it sends."""

    def __init__(self) -> None:
        self._is_known = False

    def messages(self, sent: p4r.PacketOut) -> Iterator[p4r.StreamMessageResponse]:
        """Yield what the controller hears of a packet-out."""
        # In P4Info's order: kind, port, VLAN (docs/p4runtime.md).
        kind, port, vlan = (int.from_bytes(each.value) for each in sent.metadata)
        if kind == PacketOutKind.SEND and port == PORT and _is_echo_request(sent.payload):
            # It is forwarded to where it is for, which is back.
            yield _packet_in(_forwarded(sent.payload), Punt.LOCAL, PuntClass.PROBE)
        elif kind == PacketOutKind.SUBMIT and port == PORT and _is_echo_request(sent.payload):
            yield _packet_in(sent.payload, Punt.LOCAL, PuntClass.PROBE)
        elif (kind == PacketOutKind.SEND and port == PORT) or (kind == PacketOutKind.FLOOD and vlan == VLAN):
            yield from self._asked(sent.payload)

    def _asked(self, frame: bytes) -> Iterator[p4r.StreamMessageResponse]:
        """The router may be asked where it is."""
        packet = Packet.decode(Frame.decode(frame).payload)
        asked = discovery.decode(packet)
        if not isinstance(asked, NeighbourSolicitation) or not asked.source_mac:
            return
        if not self._is_known:
            self._is_known = True
            yield _learned()
        said = NeighbourAdvertisement(asked.target, MAC, router=True, solicited=True, override=True).message()
        answered = said.packet(asked.target, packet.source, discovery.HOP_LIMIT)
        octets = Frame(asked.source_mac, MAC, TYPE_IPV6, answered.encode()).encode()
        yield _packet_in(octets, Punt.NEIGHBOUR_ADVERTISEMENT, PuntClass.NEIGHBOUR)


def _is_echo_request(frame: bytes) -> bool:
    return frame[NEXT_HEADER_AT] == ICMPV6 and frame[ICMPV6_TYPE_AT] == icmpv6.ECHO_REQUEST


def _forwarded(frame: bytes) -> bytes:
    """Return a frame as it comes back: its packet is for who sent it, as a probe is."""
    hop_limit = frame[HOP_LIMIT_AT] - 1
    return frame[6:12] + frame[:6] + frame[12:HOP_LIMIT_AT] + bytes([hop_limit]) + frame[HOP_LIMIT_AT + 1 :]


def _learned() -> p4r.StreamMessageResponse:
    """Return the digest of a station that the switch did not know."""
    message = p4r.StreamMessageResponse()
    message.digest.digest_id, message.digest.list_id = own_schema().digests["learn"].id, 1
    values = (PORT.to_bytes(), VLAN.to_bytes(), MAC.packed)
    members = [p4d.P4Data(bitstring=value) for value in values]
    message.digest.data.append(p4d.P4Data(struct=p4d.P4StructLike(members=members)))
    return message


def _packet_in(octets: bytes, reason: Punt, punt_class: PuntClass) -> p4r.StreamMessageResponse:
    message = p4r.StreamMessageResponse()
    message.packet.payload = octets
    # In P4Info's order.
    for number, value in enumerate((reason, PORT, VLAN, punt_class), start=1):
        message.packet.metadata.add(metadata_id=number, value=value.to_bytes())
    return message
