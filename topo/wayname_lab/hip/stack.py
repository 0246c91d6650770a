"""The inner side of a HIP host: the stack of `wayname-host`, whose only address is its HIT.

It reaches all other HITs by a router that is not there: whoever it asks for, the answer is one MAC.
"""

from ipaddress import IPv6Address

from wayname_host import Host

from wayname.wire import discovery, icmpv6
from wayname.wire.discovery import HOP_LIMIT, NeighbourAdvertisement, NeighbourSolicitation
from wayname.wire.errors import DecodeError
from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname.wire.ipv6 import ICMPV6, Packet
from wayname.wire.mac import Mac

STACK = Mac.parse("02:00:00:00:00:01")
ROUTER = Mac.parse("02:00:00:00:00:02")
ROUTER_ADDRESS = IPv6Address("fe80::1")
TCP, QUOTED = 6, 20


class HitStack:
    """Packets between HITs, programs and their events."""

    def __init__(self, hit: IPv6Address, mtu: int, seed: int) -> None:
        self._hit = hit
        self._host = Host(mac=str(STACK), addresses=[f"{hit}/128"], gateway=str(ROUTER_ADDRESS), mtu=mtu, seed=seed)

    def command(self, line: str) -> int | None:
        """Let the host do something; return the flow that this began."""
        return self._host.command(line)

    def events(self) -> list[str]:
        """Return what happened since the last call."""
        return self._host.events()

    def set_link(self, up: bool, now: int) -> None:
        """Say that the link came or went."""
        self._host.set_link(up, now)

    def next_wake(self, now: int) -> int | None:
        """Return when there is something to do though nothing comes."""
        return self._host.next_wake(now)

    def receive(self, packet: Packet, now: int) -> None:
        """Let a packet come to the host."""
        self._host.receive(Frame(STACK, ROUTER, TYPE_IPV6, packet.encode()).encode(), now)

    def shorten(self, peer: IPv6Address, mtu: int, now: int) -> None:
        """Say that packets to a peer may have no more octets than this; the router that is not there says it."""
        quoted = Packet(self._hit, peer, TCP, bytes(QUOTED)).encode()
        error = icmpv6.Message(icmpv6.PACKET_TOO_BIG, 0, mtu.to_bytes(4) + quoted)
        self.receive(error.packet(peer, self._hit), now)

    def poll(self, now: int) -> list[Packet]:
        """Do everything that can be done now; return the packets that are for others."""
        packets = []
        while frames := self._host.poll(now):
            for frame in frames:
                packet = Packet.decode(Frame.decode(frame).payload)
                if packet.destination.is_multicast or packet.destination.is_link_local:
                    self._answer(packet, now)
                else:
                    packets.append(packet)
        return packets

    def _answer(self, packet: Packet, now: int) -> None:
        try:
            message = discovery.decode(packet) if packet.next_header == ICMPV6 else None
        except DecodeError:
            return  # who listens to which group is nobody's business here
        if isinstance(message, NeighbourSolicitation) and message.target == ROUTER_ADDRESS:
            answer = NeighbourAdvertisement(
                message.target, ROUTER, router=True, solicited=True, override=True
            ).message()
            self.receive(answer.packet(message.target, packet.source, HOP_LIMIT), now)
