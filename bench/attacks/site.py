"""The network that is attacked: two sites with two providers each, and all protocols at once.

      a-shim6 a-hip a-verify a-ilnp a-border          guests: hosts elsewhere that begin something new all the time
            \\    |     |     |    /                     |
    mallory -- edge a ======= providers p and q ======= the world -- forged sources (nobody is there)
    witness /                    |
                              edge b -- b-shim6 b-hip b-verify b-ilnp b-plain

Both edges are real: a switch and a controller each, with this configuration. Hosts are `wayname-host` processes, or HIP
hosts of labs. Providers, the attacker on the LAN (mallory) and a neighbour of hers who only listens are `world.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Network

from wayname.nptv6 import PrefixMapping
from wayname.wire.mac import Mac
from wayname_lab.hip.identities import identity_of_host
from wayname_lab.identities import provable_address

PROVIDERS = ("p", "q")
LAN, BORDER_LAN, FIRST_LINK = 1, 5, 1001
# Fourth group of a site's prefixes, by who is there.
NETWORKS = {"shim6": 1, "hip": 2, "ilnp": 3, "verify": 4, "plain": 6}
INSIDE = IPv6Network("fd12:3456:789a::/48")
# Somewhere else: guests, by what they speak, and sources that attackers make up.
GUESTS = {kind: 0x20010DB800C00000 | number << 16 for number, kind in enumerate(("shim6", "ilnp", "hip", "none"), 1)}
BY_SECOND = 0x8000
FORGED = IPv6Network("2001:db8:f000::/36")
MALLORY, WITNESS = Mac.parse("02:00:00:00:66:66"), Mac.parse("02:00:00:00:77:77")
PROVIDER_MACS = {"p": Mac.parse("02:99:00:00:00:0a"), "q": Mac.parse("02:99:00:00:00:0b")}
HIP_GUESTS = 64
# Numbers on the LAN: of the attacker, and of addresses of the listening neighbour. Those that nobody has asked for yet
# are resolved as new hosts would be.
MALLORY_NUMBER = 0x6666
FRESH = 0x7700_0000_0000_0000
# What guests' sessions may last, and how soon a path is left: seconds.
IDLE, SEND_TIMEOUT = 10, 0.5
HOST_NUMBER = 0x11


@dataclass(frozen=True, slots=True)
class SiteHost:
    """A host of a site."""

    name: str
    kind: str
    site: Site

    @property
    def vlan(self) -> int:
        """The VLAN of its port."""
        return BORDER_LAN if self.kind == "border" else LAN

    @property
    def mac(self) -> Mac:
        """Its MAC."""
        return Mac(0x020000000000 | self.site.number << 8 | self.site.kinds.index(self.kind) + 0x11)

    @property
    def locators(self) -> tuple[IPv6Address, ...]:
        """Where it can be reached, the address that it knows itself by first."""
        if self.kind == "border":
            return (INSIDE[1 << 64 | HOST_NUMBER],)
        subnets = self.site.subnets(self.kind)
        if self.kind == "shim6":
            return (provable_address(self.name, subnets)[0],)
        # An identifier of ILNP is unique in the whole world.
        number = self.site.number << 16 | HOST_NUMBER
        return tuple(subnet[number] for subnet in subnets)

    @property
    def address(self) -> IPv6Address:
        """How it is known: a HIP host by its HIT."""
        return identity_of_host(self.name).hit if self.kind == "verify" else self.locators[0]

    @property
    def gateway(self) -> IPv6Address:
        """The address of its router."""
        return IPv6Address(int(self.locators[0]) >> 64 << 64 | 1)


@dataclass(frozen=True, slots=True)
class Port:
    """A port of an edge, and who is at its other end."""

    number: int
    vlan: int
    peer: str


@dataclass(frozen=True, slots=True)
class Site:
    """A site and its edge."""

    name: str
    number: int
    kinds: tuple[str, ...]
    others: tuple[str, ...] = ()  # on the LAN, beside the hosts

    @property
    def hosts(self) -> tuple[SiteHost, ...]:
        """Its hosts."""
        return tuple(SiteHost(f"{self.name}-{kind}", kind, self) for kind in self.kinds)

    def host(self, kind: str) -> SiteHost:
        """Return the host of a kind."""
        return next(host for host in self.hosts if host.kind == kind)

    @property
    def ports(self) -> tuple[Port, ...]:
        """The ports of its edge."""
        ends = [(host.vlan, host.kind) for host in self.hosts] + [(LAN, other) for other in self.others]
        ends += [(FIRST_LINK + index, name) for index, name in enumerate(PROVIDERS)]
        return tuple(Port(number, *end) for number, end in enumerate(ends, 1))

    def router_mac(self, vlan: int) -> Mac:
        """Return the MAC of its router on a VLAN."""
        return Mac(0x02ED00000000 | self.number << 16 | vlan)

    def given(self, provider: str, border: bool = False) -> IPv6Network:
        """Return what a provider gave to it; for hosts behind its border something of their own."""
        number = self.number + (4 if border else 0)
        return IPv6Network(f"2001:db8:{PROVIDERS.index(provider) + 1}{number:02}::/48")

    def subnets(self, kind: str) -> list[IPv6Network]:
        """Return the prefixes of its hosts of a kind, one of each provider."""
        group = NETWORKS[kind] << 64
        return [IPv6Network((int(self.given(one).network_address) | group, 64)) for one in PROVIDERS]

    def link(self, provider: str) -> IPv6Network:
        """Return the prefix of the link to a provider; the edge has 1, the provider 2."""
        return IPv6Network(f"2001:db8:0:{self.number}{PROVIDERS.index(provider) + 1}::/64")

    def outside(self, host: SiteHost, provider: str) -> IPv6Address:
        """Return how the world knows a host behind the border by a provider."""
        return PrefixMapping(INSIDE, self.given(provider, border=True)).out(host.address)


def guest_name(number: int) -> str:
    """Return the name of a guest that speaks HIP."""
    return f"guest-{number}"


def hip_guest(number: int) -> IPv6Address:
    """Return where that guest is; each provider has its share of them."""
    return IPv6Address(locator("hip", PROVIDERS[number % len(PROVIDERS)]) << 64 | number + 1)


def locator(kind: str, provider: str) -> int:
    """Return the prefix of guests of a kind whose packets come to site a by a provider."""
    return GUESTS[kind] | BY_SECOND * PROVIDERS.index(provider)


A = Site("a", 1, ("shim6", "hip", "verify", "ilnp", "border"), ("mallory", "witness"))
B = Site("b", 2, ("shim6", "hip", "verify", "ilnp", "plain"))
SITES = (A, B)
