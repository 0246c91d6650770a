"""BEET mode: packets have HITs inside a host, locators on the wire, and nothing is sent twice (RFC 7402, appendix B).

Hop limit, traffic class and flow label are those of the packet, both ways. Where an association's packets come
from is of no meaning: who can seal is the peer.
"""

from dataclasses import dataclass, replace
from ipaddress import IPv6Address

from wayname.hip.esp.associations import HEADER, Content, Incoming, Outgoing
from wayname.hip.esp.errors import Rejected, RejectReason
from wayname.wire.ipv6 import Packet

ESP = 50


@dataclass(frozen=True, slots=True)
class Opened:
    """A packet as the host sees it, and what the one on the wire said beside."""

    packet: Packet
    spi: int
    is_newest: bool


class Peer:
    """A host that this one has associations with: HITs that stay, locators that change."""

    def __init__(self, local: IPv6Address, remote: IPv6Address, source: IPv6Address, destination: IPv6Address) -> None:
        self.local = local
        self.remote = remote
        self.source = source
        self.destination = destination
        self.outgoing: Outgoing | None = None

    def wrap(self, packet: Packet, outgoing: Outgoing) -> Packet:
        """Return a packet between the HITs as it goes on the wire."""
        sealed = outgoing.seal(Content(packet.next_header, packet.payload))
        return replace(packet, source=self.source, destination=self.destination, next_header=ESP, payload=sealed)


class Beet:
    """All associations of a host."""

    def __init__(self) -> None:
        self._peers: dict[tuple[IPv6Address, IPv6Address], Peer] = {}
        self._incoming: dict[int, tuple[Peer, Incoming]] = {}

    def peer(self, local: IPv6Address, remote: IPv6Address) -> Peer | None:
        """Return what is known of a peer."""
        return self._peers.get((local, remote))

    def outgoing(self, local: IPv6Address, remote: IPv6Address) -> Outgoing | None:
        """Return the association for what leaves to a peer."""
        peer = self._peers.get((local, remote))
        return None if peer is None else peer.outgoing

    def add_peer(self, peer: Peer) -> None:
        """Know a peer, in place of what was known of it."""
        self.forget(peer.local, peer.remote)
        self._peers[peer.local, peer.remote] = peer

    def forget(self, local: IPv6Address, remote: IPv6Address) -> None:
        """End all associations with a peer."""
        if peer := self._peers.pop((local, remote), None):
            self._incoming = {spi: held for spi, held in self._incoming.items() if held[0] is not peer}

    def admit(self, peer: Peer, incoming: Incoming) -> None:
        """Take what comes with an SPI too: in a rekey, beside the one before."""
        if incoming.spi in self._incoming:
            raise ValueError(f"SPI {incoming.spi:#010x} is in use")
        self._incoming[incoming.spi] = peer, incoming

    def refuse(self, spi: int) -> None:
        """Take nothing more with this SPI."""
        self._incoming.pop(spi, None)

    def spi_in_use(self, spi: int) -> bool:
        """Return whether an SPI names an association already."""
        return spi in self._incoming

    def wrap(self, packet: Packet) -> Packet | None:
        """Return a packet between HITs as it goes on the wire; None if there is no association yet."""
        peer = self._peers.get((packet.source, packet.destination))
        return None if peer is None or peer.outgoing is None else peer.wrap(packet, peer.outgoing)

    def unwrap(self, packet: Packet) -> Opened:
        """Open an ESP packet of the wire."""
        if len(packet.payload) < HEADER:
            raise Rejected(RejectReason.SHORT)
        held = self._incoming.get(int.from_bytes(packet.payload[:4]))
        if held is None:
            raise Rejected(RejectReason.SPI_UNKNOWN)
        peer, incoming = held
        content = incoming.open(packet.payload)
        inside = replace(
            packet,
            source=peer.remote,
            destination=peer.local,
            next_header=content.next_header,
            payload=content.payload,
        )
        return Opened(inside, incoming.spi, content.is_newest)
