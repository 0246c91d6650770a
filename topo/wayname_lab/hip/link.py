"""The outer side of a HIP host: its locators on the link, and its router there (RFC 4861, as much as that needs)."""

from collections.abc import Sequence
from ipaddress import IPv6Address

from wayname.wire import discovery
from wayname.wire.discovery import HOP_LIMIT, NeighbourAdvertisement, NeighbourSolicitation
from wayname.wire.errors import DecodeError
from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname.wire.ipv6 import ICMPV6, Packet
from wayname.wire.mac import Mac, group_mac, solicited_node

SECOND = 1_000_000_000
MOST_WAITING = 64
# ICMPv6 of these types and above is no error (RFC 4443, section 2.1).
INFORMATIONAL = 128


class LocatorLink:
    """Frames on one side, packets between locators on the other; everything goes by the router."""

    def __init__(self, mac: Mac, locators: Sequence[IPv6Address], router: IPv6Address) -> None:
        self._mac = mac
        self._locators = tuple(locators)
        self._router = router
        self._router_mac: Mac | None = None
        self._frames: list[bytes] = []
        self._waiting: list[Packet] = []
        self._asks_at: int | None = 0

    def take_frames(self) -> list[bytes]:
        """Return the frames that leave."""
        frames, self._frames = self._frames, []
        return frames

    def send(self, packet: Packet) -> None:
        """Let a packet leave, or wait until the router is known."""
        if self._router_mac is not None:
            self._transmit(packet, self._router_mac)
        elif len(self._waiting) < MOST_WAITING:
            self._waiting.append(packet)

    def receive(self, frame: bytes) -> Packet | None:
        """Take a frame; return its packet, if it is for the host and not about neighbours."""
        try:
            read = Frame.decode(frame)
            if read.type != TYPE_IPV6 or not (read.destination == self._mac or read.destination.is_group):
                return None
            packet = Packet.decode(read.payload)
            if packet.next_header != ICMPV6 or packet.payload[:1] < bytes([INFORMATIONAL]):
                return packet if packet.destination in self._locators else None
            self._discover(discovery.decode(packet), packet)
        except DecodeError:
            return None  # whatever else stations say on a link
        return None

    def next_timer(self) -> int | None:
        """Return when the router is asked for again; None when it is known."""
        return self._asks_at

    def handle_timer(self, now: int) -> None:
        """Ask for the router, each second until it answers."""
        if self._asks_at is not None and now >= self._asks_at:
            self._asks_at = now + SECOND
            group = solicited_node(self._router)
            asked = NeighbourSolicitation(self._router, self._mac).message()
            self._transmit(asked.packet(self._locators[0], group, HOP_LIMIT), group_mac(group))

    def _discover(self, message: discovery.DiscoveryMessage, packet: Packet) -> None:
        match message:
            case NeighbourSolicitation(target, source_mac) if target in self._locators and source_mac is not None:
                answer = NeighbourAdvertisement(target, self._mac, solicited=True, override=True).message()
                self._transmit(answer.packet(target, packet.source, HOP_LIMIT), source_mac)
            case NeighbourAdvertisement(target, target_mac) if target == self._router and target_mac is not None:
                self._router_mac, self._asks_at = target_mac, None
                waiting, self._waiting = self._waiting, []
                for held in waiting:
                    self._transmit(held, target_mac)

    def _transmit(self, packet: Packet, to: Mac) -> None:
        self._frames.append(Frame(to, self._mac, TYPE_IPV6, packet.encode()).encode())
