"""The provider's router on the link of a simulated switch: it says where it is, and what is sent to it comes back."""

from __future__ import annotations

from finsy.proto import p4r

from wayname.p4_constants import PacketOutKind, Punt, PuntClass
from wayname.wire import discovery
from wayname.wire.discovery import NeighbourAdvertisement, NeighbourSolicitation
from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname.wire.ipv6 import Packet
from wayname.wire.mac import Mac

# Where `wayname_lab.fleet.controllers` has it.
PORT, VLAN = 2, 100
MAC = Mac.parse("02:00:00:00:01:02")
# Of a frame without a tag, as the port has them.
HOP_LIMIT_AT = 21


def answer(sent: p4r.PacketOut) -> p4r.StreamMessageResponse | None:
    """Return the packet-in that comes of a packet-out, if anything does."""
    # In P4Info's order: kind, port, VLAN (docs/p4runtime.md).
    kind, port, vlan = (int.from_bytes(each.value) for each in sent.metadata)
    if kind == PacketOutKind.SEND and port == PORT:
        return _packet_in(_forwarded(sent.payload), Punt.LOCAL, PuntClass.PROBE)
    if kind == PacketOutKind.FLOOD and vlan == VLAN:
        frame = Frame.decode(sent.payload)
        packet = Packet.decode(frame.payload)
        asked = discovery.decode(packet)
        if isinstance(asked, NeighbourSolicitation) and asked.source_mac:
            said = NeighbourAdvertisement(asked.target, MAC, router=True, solicited=True, override=True).message()
            answered = said.packet(asked.target, packet.source, discovery.HOP_LIMIT)
            octets = Frame(asked.source_mac, MAC, TYPE_IPV6, answered.encode()).encode()
            return _packet_in(octets, Punt.NEIGHBOUR_ADVERTISEMENT, PuntClass.NEIGHBOUR)
    return None


def _forwarded(frame: bytes) -> bytes:
    """Return a frame as it comes back: its packet is for who sent it, as a probe is."""
    hop_limit = frame[HOP_LIMIT_AT] - 1
    return frame[6:12] + frame[:6] + frame[12:HOP_LIMIT_AT] + bytes([hop_limit]) + frame[HOP_LIMIT_AT + 1 :]


def _packet_in(octets: bytes, reason: Punt, punt_class: PuntClass) -> p4r.StreamMessageResponse:
    message = p4r.StreamMessageResponse()
    message.packet.payload = octets
    # In P4Info's order.
    for number, value in enumerate((reason, PORT, VLAN, punt_class), start=1):
        message.packet.metadata.add(metadata_id=number, value=value.to_bytes())
    return message
