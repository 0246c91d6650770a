"""The router's links: reading what came by them, and sending into them."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv6Address

from wayname.config.model import Config, Interface
from wayname.edge.boundary import PacketIn, PacketOut
from wayname.edge.outputs import Outputs
from wayname.p4_constants import PacketOutKind
from wayname.wire import icmpv6, ipv6
from wayname.wire.errors import DecodeError
from wayname.wire.ethernet import TYPE_IPV6, Frame, Tag
from wayname.wire.mac import Mac, group_mac

_HOP_LIMIT = 64


@dataclass(frozen=True, slots=True)
class ReceivedPacket:
    """An IPv6 packet that came to the controller, and by which interface."""

    original: PacketIn
    frame: Frame
    packet: ipv6.Packet
    interface: Interface

    @property
    def port(self) -> int:
        """The port that it came by."""
        return self.original.port


class Links:
    """Knows how each VLAN's ports want their frames."""

    def __init__(self, config: Config, outputs: Outputs) -> None:
        self._outputs = outputs
        self._interfaces = {interface.vlan: interface for interface in config.interfaces}
        self._tagged = {(port.number, vlan) for port in config.ports for vlan in port.tagged}

    def read(self, original: PacketIn) -> ReceivedPacket:
        """Take apart what the switch passed on."""
        frame = Frame.decode(original.payload)
        interface = self._interfaces.get(original.vlan)
        if frame.type != TYPE_IPV6 or interface is None:
            raise DecodeError("no IPv6, or by no interface of the router")
        return ReceivedPacket(original, frame, ipv6.Packet.decode(frame.payload), interface)

    def send(self, interface: Interface, port: int, destination: Mac, packet: ipv6.Packet) -> None:
        """Send a packet of the router to a station behind a port."""
        self._outputs.packet(self.packet_out(interface, port, destination, packet))

    def packet_out(self, interface: Interface, port: int, destination: Mac, packet: ipv6.Packet) -> PacketOut:
        """Return what `send` sends, for who sends it often."""
        tag = Tag(interface.vlan) if (port, interface.vlan) in self._tagged else None
        frame = Frame(destination, interface.mac, TYPE_IPV6, packet.encode(), tag)
        return PacketOut(frame.encode(), PacketOutKind.SEND, port=port)

    def send_to_group(self, interface: Interface, packet: ipv6.Packet) -> None:
        """Send a packet of the router to all that listen to the group it is for."""
        frame = Frame(group_mac(packet.destination), interface.mac, TYPE_IPV6, packet.encode())
        self._outputs.packet(PacketOut(frame.encode(), PacketOutKind.FLOOD, vlan=interface.vlan))

    def within(self, kind: PacketOutKind, interface: Interface, port: int, host: Mac, packet: ipv6.Packet) -> None:
        """Give the switch a packet about a session, as if a host on the link had sent it to the router."""
        tag = Tag(interface.vlan) if (port, interface.vlan) in self._tagged else None
        frame = Frame(interface.mac, host, TYPE_IPV6, packet.encode(), tag)
        self._outputs.packet(PacketOut(frame.encode(), kind, port=port))

    def answer(self, arrival: ReceivedPacket, message: icmpv6.Message, source: IPv6Address) -> None:
        """Send a message to where a packet came from."""
        packet = message.packet(source, arrival.packet.source, _HOP_LIMIT)
        self.send(arrival.interface, arrival.port, arrival.frame.source, packet)

    def report(self, arrival: ReceivedPacket, code: int) -> None:
        """Tell a packet's source that its destination cannot be reached, if that may be told."""
        if icmpv6.may_be_reported(arrival.packet):
            message = icmpv6.unreachable(code, arrival.packet.encode())
            self.answer(arrival, message, arrival.interface.error_address)

    def submit(self, original: PacketIn) -> None:
        """Let a packet go through the switch again, as if it came anew."""
        self._outputs.packet(PacketOut(original.payload, PacketOutKind.SUBMIT, port=original.port))
