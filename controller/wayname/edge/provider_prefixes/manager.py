"""Asks providers for their prefixes and routers, and says when they are others.

What was learned becomes a part of the configuration: whoever runs the edge reads that again and makes an edge of it,
which goes on with what this one knows (`before`). So a provider's new prefix is where a configured one would be, in all
tables.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from ipaddress import IPv6Address, IPv6Network
from zlib import crc32

from wayname.config.model import Config
from wayname.config.provider import Learned, Phase, PrefixSource
from wayname.edge.boundary import Json, LearnedFromProviders, Severity
from wayname.edge.links import Links, ReceivedPacket
from wayname.edge.outputs import Outputs
from wayname.edge.provider_prefixes import memory
from wayname.edge.provider_prefixes.memory import Clocks
from wayname.edge.provider_prefixes.source import Source
from wayname.prefix_delegation.client import PrefixClient, Wish
from wayname.timers import Timers, earliest
from wayname.wire.dhcpv6 import ALL_SERVERS, CLIENT_PORT, SERVER_PORT, Message
from wayname.wire.discovery import ALL_ROUTERS, HOP_LIMIT, RouterAdvertisement, RouterSolicitation
from wayname.wire.udp import Datagram

# A DUID of the link-layer address: DUID-LL, Ethernet (RFC 8415, section 11.4).
DUID_LL = bytes.fromhex("00030001")
# RFC 4861, section 10.
MOST_SOLICITATIONS = 3
BETWEEN_SOLICITATIONS = 4.0
# A server that gives another prefix with each answer does not have the tables written all the time.
BETWEEN_CHANGES = 1.0
# So long after the first question people are told that nobody answers.
PATIENCE = 15.0

_TELL, _WRITE = "tell", "write"


class ProviderPrefixes:
    """Knows the providers of `Config.prefix_sources`; they may be looked at between calls."""

    def __init__(
        self,
        config: Config,
        links: Links,
        outputs: Outputs,
        rng: random.Random,
        remembered: Mapping[str, Json],
        before: ProviderPrefixes | None = None,
    ) -> None:
        self._config = config
        self._links = links
        self._outputs = outputs
        self._remembered = remembered
        earlier = {source.about: source for source in before.sources.values()} if before else {}
        self.sources: dict[str, Source] = {
            about.name: earlier.get(about) or new_source(about, config, rng) for about in config.prefix_sources
        }
        self._is_new = {about.name for about in config.prefix_sources if about not in earlier}
        self._epoch: float = before._epoch if before else 0.0
        self._told_at: float = before._told_at if before else -BETWEEN_CHANGES
        self._told: Mapping[str, Learned] = config.learned
        self._timers: Timers[tuple[str, str]] = Timers()
        self._without_next_hop: set[str] = set()

    @property
    def learned(self) -> dict[str, Learned]:
        """What is known of each provider now."""
        return {name: source.learned for name, source in self.sources.items()}

    def dns(self, now: float) -> tuple[list[IPv6Address], list[str], int]:
        """Return the name servers and search domains that came with preferred prefixes, and for how long."""
        clients = [
            (source.client, max(each.valid for each in source.prefixes.values()))
            for source in self.sources.values()
            if source.client and any(each.phase is Phase.PREFERRED for each in source.learned.prefixes)
        ]
        servers = dict.fromkeys(server for client, _ in clients for server in client.dns_servers)
        domains = dict.fromkeys(domain for client, _ in clients for domain in client.search_domains)
        return list(servers), list(domains), int(min((until - now for _, until in clients), default=0))

    def lifetimes(self, network: IPv6Network, now: float) -> tuple[int, int] | None:
        """Return for how long hosts may use a delegated prefix, preferred and valid; None if it is not delegated."""
        found = (source.lifetimes(network, now) for source in self.sources.values())
        return next((each for each in found if each is not None), None)

    def start(self, now: float, epoch: float, is_resumed: bool) -> None:
        """The switch is there: ask all that is not being asked already."""
        if not is_resumed or self._is_new:
            self._epoch = epoch
        for name, source in self.sources.items():
            if name in self._is_new:
                memory.recall(source, self._remembered, Clocks(now, self._epoch))
            elif is_resumed:
                continue
            self._ask(source, now)
        self._is_new = set()
        self._look(now)

    def stop(self) -> None:
        """Nobody can be asked while the switch is away."""
        for name, source in self.sources.items():
            if source.client is not None:
                source.client.stop()
            self._timers.cancel((name, "solicit"))

    def takes(self, arrival: ReceivedPacket, now: float) -> bool:
        """Take a datagram for a client of DHCPv6; False if it is for nobody here."""
        sources = [each for each in self._on(arrival.interface.vlan) if each.client]
        if not sources:
            return False
        datagram = Datagram.decode(arrival.packet)
        if datagram.destination_port != CLIENT_PORT:
            return False
        message = Message.decode(datagram.data)
        for source in sources:
            if source.client is not None and source.client.receive(message, now):
                self._timers.cancel((source.about.name, "patience"))
        self._look(now)
        return True

    def advertised(self, arrival: ReceivedPacket, said: RouterAdvertisement, now: float) -> None:
        """A router advertises; whoever read the packet has checked its hop limit and source."""
        for source in self._on(arrival.interface.vlan):
            if source.about.finds_routers:
                self._timers.cancel((source.about.name, "solicit"))
                source.heard_router(arrival.packet.source, said.lifetime, now)
        self._look(now)

    def next_hops_changed(self, up: Mapping[str, bool], now: float) -> None:
        """Ask a provider whose next hop is there again whether its prefix stands (RFC 8415, section 18.2.12)."""
        for name, source in self.sources.items():
            if not up.get(name, True):
                self._without_next_hop.add(name)
            elif name in self._without_next_hop:
                self._without_next_hop.discard(name)
                self._ask(source, now)
        self._look(now)

    def next_timer(self) -> float | None:
        """Return when `handle_timer` has to be called at the latest."""
        clients = (source.client.next_timer() for source in self.sources.values() if source.client)
        return earliest((self._timers.next(), *clients))

    def handle_timer(self, now: float, late: float) -> None:
        """Ask again; end what nobody renewed; say what is known now."""
        for name, what in self._timers.due(now):
            if what == _TELL:
                self._say_learned(now)
            elif what == "solicit":
                self._solicit_routers(self.sources[name], now)
            elif what == "patience":
                self._complain(self.sources[name], now)
        for source in self.sources.values():
            at = source.client.next_timer() if source.client else None
            if source.client and at is not None and at <= now:
                source.client.handle_timer(now)
        self._look(now)

    def _on(self, vlan: int) -> Iterator[Source]:
        return (source for source in self.sources.values() if source.about.vlan == vlan)

    def _ask(self, source: Source, now: float) -> None:
        name = source.about.name
        if source.client is not None:
            source.client.start(now)
            self._timers.set((name, "patience"), now + PATIENCE)
        if source.about.finds_routers:
            source.solicited = 0
            self._timers.set((name, "solicit"), now)

    def _solicit_routers(self, source: Source, now: float) -> None:
        interface = self._config.interface(source.about.vlan)
        assert interface is not None
        message = RouterSolicitation(interface.mac).message()
        self._links.send_to_group(interface, message.packet(interface.link_local, ALL_ROUTERS, HOP_LIMIT))
        source.solicited += 1
        if source.solicited < MOST_SOLICITATIONS:
            self._timers.set((source.about.name, "solicit"), now + BETWEEN_SOLICITATIONS)

    def _complain(self, source: Source, now: float) -> None:
        interface = self._config.interface(source.about.vlan)
        where = interface.name if interface else f"VLAN {source.about.vlan}"
        has = ", ".join(map(str, source.prefixes))
        text = f"no DHCPv6 server on {where} answers for {source.about.name}; " + (
            f"{has} is used until it ends" if has else "it is asked on, less and less often"
        )
        self._outputs.event(now, "prefix.unanswered", source.about.name, text, Severity.WARNING)

    def _look(self, now: float) -> None:
        """Send what clients say; see what changed, write it down, and have it told."""
        for name, source in self.sources.items():
            self._send(source)
            before, source.learned = source.learned, source.look(now)
            if source.learned != before:
                self._tell_people(source, before, now)
            written = memory.write_down(source, Clocks(now, self._epoch))
            key = memory.key_of(name)
            if self._remembered.get(key) != written and (source.learned != Learned() or key in self._remembered):
                self._remembered = {**self._remembered, key: written}
                self._outputs.remember(key, written)
            at = earliest(source.changes(now))
            if at is not None:
                self._timers.set((name, "ends"), at)
            else:
                self._timers.cancel((name, "ends"))
        if self._is_news:
            self._timers.set(("", _TELL), max(now, self._told_at + BETWEEN_CHANGES))

    def _send(self, source: Source) -> None:
        interface = self._config.interface(source.about.vlan)
        for message in source.client.take() if source.client and interface else ():
            assert interface is not None
            datagram = Datagram(CLIENT_PORT, SERVER_PORT, message.encode())
            self._links.send_to_group(interface, datagram.packet(interface.link_local, ALL_SERVERS))

    @property
    def _is_news(self) -> bool:
        told = {name: self._told.get(name, Learned()) for name in self.sources}
        return told != self.learned

    def _say_learned(self, now: float) -> None:
        if self._is_news:
            self._told, self._told_at = self.learned, now
            self._outputs.learned(LearnedFromProviders(self.learned))

    def _tell_people(self, source: Source, before: Learned, now: float) -> None:
        name = source.about.name
        was = {each.network: each.phase for each in before.prefixes}
        for each in source.learned.prefixes:
            if was.get(each.network) is each.phase:
                continue
            kind, words, severity = _WORDS[each.phase]
            if each.phase is Phase.PREFERRED and each.network in was:
                kind, words = "prefix.preferred", "may be used again"
            held = source.prefixes.get(each.network)
            for_ = f" for {held.valid - now:.0f} s" if held and held.valid - now < 1e9 else ""
            text = f"{each.network} of {name} {words}{for_ if each.phase is Phase.PREFERRED else ''}"
            self._outputs.event(now, kind, each.network, text, severity)
        for router in source.learned.routers:
            if router not in before.routers:
                self._outputs.event(now, "provider.router", router, f"{router} is a router of {name}")
        for router in before.routers:
            if router not in source.learned.routers:
                text = f"{router} is a router of {name} no more"
                self._outputs.event(now, "provider.router_gone", router, text, Severity.WARNING)


_WORDS = {
    Phase.PREFERRED: ("prefix.new", "is the site's", Severity.INFO),
    Phase.DEPRECATED: ("prefix.deprecated", "is for nothing new any more", Severity.WARNING),
    Phase.ENDED: ("prefix.gone", "has ended: what goes by it leaves it, or is lost", Severity.WARNING),
}


def new_source(about: PrefixSource, config: Config, rng: random.Random) -> Source:
    """Return a provider of which nothing is known."""
    if not about.is_delegated:
        return Source(about)
    hint = IPv6Network((0, about.prefix_length)) if about.prefix_length is not None else None
    # The same after every restart, so that the server gives the same prefix (RFC 9096, section 3.2).
    wish = Wish(DUID_LL + config.interfaces[0].mac.packed, crc32(about.name.encode()), hint)
    return Source(about, PrefixClient(wish, rng))


def learned_before(config: Config, remembered: Mapping[str, Json], posix: float) -> dict[str, Learned]:
    """Return what an earlier controller learned and what still holds, before there is an edge and its clock."""
    found = {}
    for about in config.prefix_sources:
        source = new_source(about, config, random.SystemRandom())
        memory.recall(source, remembered, Clocks(posix, 0.0))
        found[about.name] = source.look(posix)
    return found
