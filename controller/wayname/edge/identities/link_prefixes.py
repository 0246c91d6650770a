"""Which prefixes the hosts of a link may have addresses in: configured ones, and those that providers advertise.

A provider's router says how long a prefix may be used (RFC 4861, section 6.3.4; RFC 4862, section 5.5.3). It is heard
only on interfaces that are configured as uplinks, from a link-local address with hop limit 255, so from the link
itself. What is configured no advertisement changes.

    (none) --advertised--> preferred --preferred lifetime--> deprecated --valid lifetime--> (none)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Network
from math import inf

from wayname.config.identities import HostLink, Identities
from wayname.config.model import Config, LinkAddress
from wayname.edge.boundary import Json, Severity
from wayname.edge.identities.identity import RecordError
from wayname.edge.links import Links, ReceivedPacket
from wayname.edge.outputs import Outputs
from wayname.timers import Timers
from wayname.wire.discovery import ALL_ROUTERS, HOP_LIMIT, INFINITY, Prefix, RouterAdvertisement, RouterSolicitation

PREFIX = "prefix"
MOST_LEARNED = 4
# Of all uplinks; a provider has two routers, or a few.
MOST_ROUTERS = 32

# RFC 4861, section 10.
MOST_SOLICITATIONS = 3
BETWEEN_SOLICITATIONS = 4.0
# No advertisement can end a prefix sooner than so (RFC 4862, section 5.5.3 e).
TWO_HOURS = 7200.0


@dataclass(slots=True)
class AdvertisedPrefix:
    """A prefix of a provider, and until when it is preferred and valid."""

    network: IPv6Network
    uplink: int
    on_link: bool  # of the uplink
    preferred: float = 0.0
    valid: float = 0.0

    @property
    def is_for_ever(self) -> bool:
        """Whether nothing but another advertisement ends it."""
        return self.valid == inf


class LinkPrefixes:
    """Knows the prefixes of each link; `changed` hears of a link whose prefixes are others now."""

    def __init__(
        self,
        config: Config,
        identities: Identities,
        links: Links,
        outputs: Outputs,
        remembered: Mapping[str, Json],
        changed: Callable[[HostLink, float], None],
    ) -> None:
        self._config = config
        self._identities = identities
        self._links = links
        self._outputs = outputs
        self._changed = changed
        self._learned: dict[str, dict[IPv6Network, AdvertisedPrefix]] = {link.name: {} for link in identities.links}
        self._routers: dict[LinkAddress, None] = {}
        self._remembered = {key: value for key, value in remembered.items() if key.split()[0] == PREFIX}
        self._solicited = {uplink: 0 for link in identities.links for uplink in link.uplinks}
        self._began = False
        self._timers: Timers[tuple[str, IPv6Network] | LinkAddress | int] = Timers()

    def valid(self, link: HostLink) -> list[IPv6Network]:
        """Return the prefixes in which hosts of a link can be reached, the best first."""
        learned = self._learned[link.name].values()
        return [*link.prefixes, *(each.network for each in sorted(learned, key=lambda each: each.preferred == 0))]

    def learned(self, link: HostLink) -> list[AdvertisedPrefix]:
        """Return what providers advertise."""
        return list(self._learned[link.name].values())

    def deprecated(self) -> Iterator[IPv6Network]:
        """Yield the prefixes that should serve for nothing new."""
        for learned in self._learned.values():
            yield from (each.network for each in learned.values() if each.preferred == 0)

    def start(self, now: float) -> None:
        """The switch is there: ask the providers' routers, and the first time take what was known to hold on."""
        if not self._began:
            self._began = True
            self._recall(now)
        for uplink in self._solicited:
            self._solicited[uplink] = 0
            self._timers.set(uplink, now)

    def stop(self) -> None:
        """Nobody can be asked while the switch is away."""
        for uplink in self._solicited:
            self._timers.cancel(uplink)

    def advertised(self, arrival: ReceivedPacket, said: RouterAdvertisement, now: float) -> None:
        """A router advertises; whoever read the packet has checked its hop limit and source."""
        vlan = arrival.interface.vlan
        if vlan not in self._solicited:
            return
        self._timers.cancel(vlan)
        self._router(LinkAddress(vlan, arrival.packet.source), said.lifetime, now)
        for link in self._identities.links:
            if vlan in link.uplinks:
                for prefix in said.prefixes:
                    if self._may_be_learned(prefix):
                        self._learn(link, vlan, prefix, now)

    def next_timer(self) -> float | None:
        """Return when `handle_timer` has to be called at the latest."""
        return self._timers.next()

    def handle_timer(self, now: float) -> None:
        """Ask again; end what nobody renewed."""
        for due in self._timers.due(now):
            match due:
                case LinkAddress():
                    self._router(due, 0, now)
                case int():
                    self._solicit(due, now)
                case (link, network):
                    self._age(link, network, now)

    def _solicit(self, vlan: int, now: float) -> None:
        interface = self._config.interface(vlan)
        if interface is None:
            return
        message = RouterSolicitation(interface.mac).message()
        self._links.send_to_group(interface, message.packet(interface.link_local, ALL_ROUTERS, HOP_LIMIT))
        self._solicited[vlan] += 1
        if self._solicited[vlan] < MOST_SOLICITATIONS:
            self._timers.set(vlan, now + BETWEEN_SOLICITATIONS)

    def _router(self, at: LinkAddress, lifetime: int, now: float) -> None:
        if lifetime and (at in self._routers or len(self._routers) < MOST_ROUTERS):
            self._timers.set(at, now + lifetime)
            if at not in self._routers:
                self._routers[at] = None
                self._outputs.event(now, "provider.router", at.address, f"{at} is a provider's router")
        elif at in self._routers:
            del self._routers[at]
            self._timers.cancel(at)
            text = f"{at} is a provider's router no more"
            self._outputs.event(now, "provider.router_gone", at.address, text, Severity.WARNING)

    def _may_be_learned(self, prefix: Prefix) -> bool:
        """Whether hosts may make addresses of it (RFC 4862, section 5.5.3 a to d), and it is nobody's yet."""
        network = prefix.network
        usable = prefix.autonomous and network.prefixlen == 64 and prefix.preferred <= prefix.valid
        if not usable or network.is_link_local or network.is_multicast or network.is_loopback:
            return False
        taken = (own.network for interface in self._config.interfaces for own in interface.global_addresses)
        configured = (prefix for link in self._identities.links for prefix in (*link.prefixes, *link.mapped))
        return not any(network.overlaps(other) for other in (*taken, *configured))

    def _learn(self, link: HostLink, uplink: int, prefix: Prefix, now: float) -> None:
        learned = self._learned[link.name]
        known = learned.get(prefix.network)
        if known is None:
            if not prefix.valid or len(learned) >= MOST_LEARNED:
                return
            known = learned[prefix.network] = AdvertisedPrefix(prefix.network, uplink, prefix.on_link)
            text = f"the provider on {self._name(uplink)} gives {link.name} {prefix.network}"
            self._outputs.event(now, "prefix.new", prefix.network, text)
            fresh = True
        elif known.uplink != uplink:
            # Two providers do not have the same prefix: who came first keeps it.
            return
        else:
            fresh = False
        was_deprecated = known.preferred == 0
        valid = _until(prefix.valid, now)
        if fresh or valid > min(known.valid, now + TWO_HOURS):
            known.valid = valid
        else:
            known.valid = min(known.valid, now + TWO_HOURS)
        known.preferred = _until(prefix.preferred, now) if prefix.preferred else 0
        self._note(link.name, known, prefix)
        self._watch(link.name, known)
        if not fresh and was_deprecated != (known.preferred == 0):
            kind = "prefix.preferred" if was_deprecated else "prefix.deprecated"
            self._tell(kind, link, known, now)
        if fresh or was_deprecated != (known.preferred == 0):
            self._changed(link, now)

    def _age(self, name: str, network: IPv6Network, now: float) -> None:
        """A lifetime ended."""
        learned = self._learned[name][network]
        link = next(link for link in self._identities.links if link.name == name)
        if learned.valid <= now:
            del self._learned[name][network]
            self._remembered.pop(f"{PREFIX} {name} {network}", None)
            self._outputs.remember(f"{PREFIX} {name} {network}", None)
            self._tell("prefix.gone", link, learned, now)
        else:
            learned.preferred = 0
            self._watch(name, learned)
            self._tell("prefix.deprecated", link, learned, now)
        self._changed(link, now)

    def _tell(self, kind: str, link: HostLink, learned: AdvertisedPrefix, now: float) -> None:
        words = {
            "prefix.preferred": "may be used again",
            "prefix.deprecated": "is for nothing new any more",
            "prefix.gone": "may not be used any more",
        }
        severity = Severity.INFO if kind == "prefix.preferred" else Severity.WARNING
        self._outputs.event(now, kind, learned.network, f"{learned.network} of {link.name} {words[kind]}", severity)

    def _watch(self, name: str, learned: AdvertisedPrefix) -> None:
        at = min(learned.preferred or inf, learned.valid)
        if at == inf:
            self._timers.cancel((name, learned.network))
        else:
            self._timers.set((name, learned.network), at)

    def _note(self, name: str, learned: AdvertisedPrefix, said: Prefix) -> None:
        """Write down what was said, if it is something else than before."""
        key = f"{PREFIX} {name} {learned.network}"
        written: Json = {
            "uplink": learned.uplink,
            "on_link": said.on_link,
            "valid": said.valid,
            "preferred": said.preferred,
        }
        if self._remembered.get(key) != written:
            self._remembered[key] = written
            self._outputs.remember(key, written)

    def _recall(self, now: float) -> None:
        """Take a prefix that was known for as long as it was last said: its router is asked at once."""
        for key, written in self._remembered.items():
            try:
                _, name, text = key.split()
                assert isinstance(written, dict)
                uplink, valid, preferred = (int(str(written[word])) for word in ("uplink", "valid", "preferred"))
                prefix = Prefix(IPv6Network(text), valid, preferred, on_link=bool(written["on_link"]))
            except (AssertionError, KeyError, ValueError) as error:
                raise RecordError(f"{key!r} is written down in a form that cannot be read ({error})") from None
            link = next((link for link in self._identities.links if link.name == name), None)
            if link is None or uplink not in link.uplinks or not self._may_be_learned(prefix) or not valid:
                self._outputs.remember(key, None)
                continue
            learned = AdvertisedPrefix(prefix.network, uplink, prefix.on_link, valid=_until(valid, now))
            learned.preferred = _until(preferred, now) if preferred else 0
            self._learned[name][prefix.network] = learned
            self._watch(name, learned)

    def _name(self, vlan: int) -> str:
        interface = self._config.interface(vlan)
        return interface.name if interface else f"VLAN {vlan}"


def _until(seconds: int, now: float) -> float:
    return inf if seconds == INFINITY else now + seconds


def prefix_of(address: IPv6Address) -> IPv6Network:
    """Return the subnet prefix of an address."""
    return IPv6Network((int(address) >> 64 << 64, 64))
