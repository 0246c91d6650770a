"""The identities of the hosts behind an edge: prepared, handed out, mapped, announced."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from ipaddress import IPv6Address, IPv6Network

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

from wayname.config.identities import HostLink, Identities
from wayname.config.model import Config
from wayname.edge.boundary import Json, ModifierFound
from wayname.edge.first_hop_security.anchor import Anchor
from wayname.edge.identities.announcements import Announcements
from wayname.edge.identities.dhcp_server import DhcpServer
from wayname.edge.identities.identity import Identity
from wayname.edge.identities.identity_store import IdentityStore
from wayname.edge.identities.leases import Leases
from wayname.edge.identities.link_prefixes import LinkPrefixes
from wayname.edge.identities.owners import Owners
from wayname.edge.identities.reachability import Reachability
from wayname.edge.identities.static_mappings import StaticMappings
from wayname.edge.links import Links, ReceivedPacket
from wayname.edge.outputs import Outputs
from wayname.identity.key_files import public_half
from wayname.identity.locators import ProvableLocators
from wayname.timers import earliest
from wayname.wire.dhcpv6 import CLIENT_PORT, SERVER_PORT, Message
from wayname.wire.discovery import RouterAdvertisement
from wayname.wire.errors import DecodeError
from wayname.wire.ipv6 import Packet
from wayname.wire.udp import Datagram

# A DUID of the link-layer address: DUID-LL, Ethernet (RFC 8415, section 11.4).
DUID_LL = bytes.fromhex("00030001")


class HostIdentities:
    """All identities of an edge, and how hosts come by them; they may be looked at between calls."""

    def __init__(
        self,
        config: Config,
        identities: Identities,
        key: RSAPrivateKey,
        links: Links,
        owners: Owners,
        outputs: Outputs,
        rng: random.Random,
        remembered: Mapping[str, Json],
        serve: Callable[[ProvableLocators, float], None],
        deprecate: Callable[[Iterable[IPv6Network], float], None],
    ) -> None:
        self.config = identities
        self._links = links
        self._outputs = outputs
        # Who is told of a host that is new, or has other locators.
        self.serve = serve
        self._deprecate = deprecate
        self._announcements = Announcements(key, outputs, self._serve, self._note)
        self._reachability = Reachability(config, outputs)
        self.book = IdentityStore(identities, public_half(key), outputs, rng, remembered, self._discarded)
        self.prefixes = LinkPrefixes(config, identities, links, outputs, remembered, self._prefixes_changed)
        self._leases = Leases(self.book, owners, outputs, self._changed)
        self._mappings = StaticMappings(self.book, self.prefixes, owners, outputs, self._changed)
        self._server = DhcpServer(DUID_LL + config.interfaces[0].mac.packed, self._leases)
        for link in identities.links:
            self.book.prepare(link, self.prefixes.valid(link))

    def start(self, now: float) -> None:
        """The switch is there."""
        self.prefixes.start(now)
        for link in self.config.links:
            self.book.prepare(link, self.prefixes.valid(link))
            self._leases.start(link, now)
            self._mappings.start(link, now)
            self._mappings.prefixes_changed(link, now)
            self._reachability.take(link.name, self.prefixes.learned(link))
        for identity in list(self.book):
            self._changed(identity, now)
        self._deprecate(self.prefixes.deprecated(), now)

    def stop(self) -> None:
        """The switch is away."""
        self.prefixes.stop()

    def datagram(self, arrival: ReceivedPacket, now: float) -> None:
        """A client of DHCPv6 sent something to all servers."""
        link = self.config.link(arrival.interface.vlan)
        if link is not None and link.dhcp:
            self._answer(link, arrival, Datagram.decode(arrival.packet), now)

    def asked_directly(self, arrival: ReceivedPacket, now: float) -> bool:
        """Take what a client sent to an address of the router's; False if it is for nobody here."""
        link = self.config.link(arrival.interface.vlan)
        datagram = Datagram.decode(arrival.packet)
        mine = link is not None and link.dhcp and datagram.destination_port == SERVER_PORT
        if link is not None and mine:
            self._answer(link, arrival, datagram, now)
        return mine

    def seen(self, arrival: ReceivedPacket, now: float) -> None:
        """A host asked or said who has an address."""
        link = self.config.link(arrival.interface.vlan)
        if link is not None:
            self._mappings.seen(link, arrival.packet.source, arrival.port, now)
            self.book.prepare(link, self.prefixes.valid(link))

    def advertised(self, arrival: ReceivedPacket, said: RouterAdvertisement, now: float) -> None:
        """A router, perhaps a provider's, advertises."""
        self.prefixes.advertised(arrival, said, now)

    def found(self, found: ModifierFound, now: float) -> None:
        """A search ended."""
        link = self.book.found(found)
        if link is not None:
            ready = self.book.prepared(link)
            if ready == self.config.prepared:
                text = f"{ready} identities are ready for hosts of {link.name}"
                self._outputs.event(now, "identities.prepared", link.name, text)
            self._mappings.ready(link, now)
        for each in self.config.links:
            self.book.prepare(each, self.prefixes.valid(each))

    def as_routed(self, packet: Packet) -> Packet:
        """Return a packet with the destination that the switch routes it to."""
        host = self._mappings.host(packet.destination)
        return replace(packet, destination=host) if host else packet

    def host(self, identity: IPv6Address) -> IPv6Address | None:
        """Return the address of its own that a mapped host has."""
        return self._mappings.host(identity)

    def as_known(self, packet: Packet) -> Packet:
        """Return a packet with the source that its host is known by elsewhere."""
        identity = self._mappings.identity(packet.source)
        return replace(packet, source=identity) if identity else packet

    def lease_end(self, identity: Identity) -> float | None:
        """Return when a lease ends; None if it is none, or has ended."""
        return self._leases.end(identity)

    def answers(self, vlan: int, address: IPv6Address) -> bool:
        """Whether the edge says on an uplink that it has an address of a host."""
        return self._reachability.answers(vlan, address)

    def next_timer(self) -> float | None:
        """Return when `handle_timer` has to be called at the latest."""
        return earliest((self.prefixes.next_timer(), self._leases.next_timer()))

    def handle_timer(self, now: float, late: float) -> None:
        """Do what is due."""
        self.prefixes.handle_timer(now)
        self._leases.handle_timer(now, self.config.links)

    def _answer(self, link: HostLink, arrival: ReceivedPacket, datagram: Datagram, now: float) -> None:
        if not arrival.packet.source.is_link_local:
            raise DecodeError("a DHCPv6 message from another link")
        to_all = arrival.packet.destination.is_multicast
        anchor = Anchor(arrival.port, arrival.frame.source)
        answer = self._server.answer(link, Message.decode(datagram.data), anchor, to_all, now)
        self.book.prepare(link, self.prefixes.valid(link))
        if answer is not None:
            interface = arrival.interface
            reply = Datagram(SERVER_PORT, CLIENT_PORT, answer.encode())
            packet = reply.packet(interface.link_local, arrival.packet.source)
            self._links.send(interface, arrival.port, arrival.frame.source, packet)

    @property
    def told(self) -> Mapping[IPv6Address, ProvableLocators]:
        """What peers are told of each host."""
        return self._announcements.told

    def _serve(self, host: ProvableLocators, now: float) -> None:
        self.serve(host, now)

    def _note(self, identity: Identity) -> None:
        self.book.note(identity)

    def _discarded(self, identity: Identity) -> None:
        self._announcements.withdraw(identity)
        self._reachability.withdraw(identity)

    def _changed(self, identity: Identity, now: float) -> None:
        link = self._link_of(identity)
        if identity.addresses:
            self._reachability.answer_for(identity, self.prefixes.learned(link))
        self._announcements.announce(identity, self.prefixes.valid(link), now)

    def _prefixes_changed(self, link: HostLink, now: float) -> None:
        self.book.prepare(link, self.prefixes.valid(link))
        self._reachability.take(link.name, self.prefixes.learned(link))
        self._mappings.prefixes_changed(link, now)
        self._mappings.ready(link, now)
        for identity in list(self.book):
            if identity.link == link.name:
                self._changed(identity, now)
        self._deprecate(self.prefixes.deprecated(), now)

    def _link_of(self, identity: Identity) -> HostLink:
        return next(link for link in self.config.links if link.name == identity.link)
