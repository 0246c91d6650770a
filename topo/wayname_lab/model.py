"""What a lab is: hosts behind edges, providers between them, links, and the traffic that is sent for show."""

from dataclasses import dataclass
from ipaddress import IPv6Network
from typing import Literal

from wayname.hip.esp.suites import SuiteId

FlowKind = Literal["tcp", "udp", "ping"]
# Where a host of a lab with Shim6 has its identity from: the edge's configuration; the edge, by DHCPv6; or it has an
# address of its own, and its edge maps it to one.
Identity = Literal["configured", "leased", "mapped"]


@dataclass(frozen=True, slots=True)
class Quality:
    """What a link between routers does to packets, in each direction."""

    rate: int | None = None  # bits per second
    delay: int = 0  # nanoseconds
    loss: float = 0.0  # of all packets, from 0 to 1
    queue: int | None = None  # packets


@dataclass(frozen=True, slots=True)
class Router:
    """A switch with its controller: the edge of a site, or a provider."""

    name: str
    is_edge: bool
    configuration: str = ""  # of its controller, beside what follows from the lab
    inside: IPv6Network | None = None  # of a site whose providers' prefixes are translated
    hold: int | None = None  # nanoseconds for which its connections wait for a provider; None: as the controller has it
    track: str | None = None  # the edge whose address tells whether a provider works beyond its first hop


@dataclass(frozen=True, slots=True)
class Host:
    """A host on a VLAN of an edge, with a link that loses and delays nothing."""

    name: str
    edge: str
    vlan: int
    autoconfigure: bool
    ilnp: bool = False  # it speaks ILNP itself
    identity: Identity = "configured"


@dataclass(frozen=True, slots=True)
class Link:
    """A link between two routers."""

    a: str
    b: str
    quality: Quality

    @property
    def name(self) -> str:
        """How people call it."""
        return f"{self.a}-{self.b}"


@dataclass(frozen=True, slots=True)
class TrafficFlow:
    """Traffic between two hosts."""

    kind: FlowKind
    source: str
    destination: str
    rate: int | None  # bits per second; None: as fast as it goes, or once in 0.2 s for pings
    by: str | None = None  # the provider by whose address the destination is reached


@dataclass(frozen=True, slots=True)
class LabShim6:
    """Edges speak for hosts, and sites have a prefix from each provider; by Shim6, addresses prove each other."""

    send_timeout: int | Literal["auto"] | None = None  # nanoseconds; None: as the controller has it
    bytes: int | None = None  # after which a session begins
    hold: bool | None = None  # whether what is not answered is sent again by the new path
    idle: int | None = None  # nanoseconds without a packet after which a session is collected; of Shim6
    is_secure: bool = True  # whether locators must be proved
    has_names: bool = False  # of HIP: whether edges know peers by their records in the lab's DNS server


@dataclass(frozen=True, slots=True)
class LabHip:
    """Hosts speak HIP themselves: sites have a prefix from each provider, hosts a locator in each, and one HIT."""

    suite: SuiteId = SuiteId.AES_128_CBC_HMAC_SHA_256
    rekey: int = 1 << 32  # packets after which a host agrees on new keys
    edges: str | None = None  # "transparent" or "verify": edges keep the sessions of hosts; None: they know of none
    send_timeout: int | None = None  # nanoseconds; None: as the controller has it


@dataclass(frozen=True, slots=True)
class LabIlnp:
    """Edges speak ILNP: sites have a prefix from each provider, and names in a DNS server of the lab."""

    bytes: int | None = None  # after which a session is asked for
    nonce: str | None = None  # "short" or "long"
    nonce_use: str | None = None  # "always" or "at-first"
    tcp: str | None = None  # what admits TCP: "handshake" or "request"
    naive: bool = False
    idle: int | None = None  # nanoseconds without a packet after which a session is collected
    capacity: int | None = None  # of an edge's cache


@dataclass(frozen=True, slots=True)
class Advertisement:
    """A site hears of a provider's prefix by router advertisements alone; times in nanoseconds after traffic begins."""

    provider: str
    site: str
    begin: int
    end: int | None  # when lifetimes become 0; None: never


@dataclass(frozen=True, slots=True)
class Delegation:
    """A provider delegates a site's prefix by DHCPv6, and another one later; in nanoseconds after traffic begins."""

    provider: str
    site: str
    change: int | None  # when it delegates the other, and knows nothing of the first; None: never


@dataclass(frozen=True, slots=True)
class Lab:
    """A lab as its file describes it."""

    name: str
    title: str
    routers: tuple[Router, ...]
    hosts: tuple[Host, ...]
    links: tuple[Link, ...]
    flows: tuple[TrafficFlow, ...]
    shim6: LabShim6 | None = None
    hip: LabHip | None = None
    ilnp: LabIlnp | None = None
    hip_edges: LabShim6 | None = None
    advertisements: tuple[Advertisement, ...] = ()
    delegations: tuple[Delegation, ...] = ()

    @property
    def told_prefixes(self) -> tuple[Advertisement | Delegation, ...]:
        """The prefixes that sites do not know beforehand."""
        return (*self.advertisements, *self.delegations)

    @property
    def is_multihomed(self) -> bool:
        """Whether sites have their prefixes from their providers."""
        return any(each is not None for each in (self.shim6, self.hip, self.ilnp, self.hip_edges))

    @property
    def has_names(self) -> bool:
        """Whether a DNS server runs beside it."""
        return self.ilnp is not None or (self.hip_edges is not None and self.hip_edges.has_names)

    @property
    def edges(self) -> tuple[Router, ...]:
        """The routers with hosts behind them."""
        return tuple(router for router in self.routers if router.is_edge)

    @property
    def providers(self) -> tuple[Router, ...]:
        """The routers between the sites."""
        return tuple(router for router in self.routers if not router.is_edge)
