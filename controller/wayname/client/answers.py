"""What the API answers, and what it is asked for, as `TypedDict`s. Written by controller/tests/write_client.py."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

AssociationAction = Literal["connect", "renew", "close"]
"""What can be wanted of an association of HIP."""

EstimateOrigin = Literal["configuration", "probes", "traces", "brought"]
"""Who told of a path last."""

Filtering = Literal["endpoint-independent", "address-dependent"]
"""Who outside may send to what the inside sent from."""

Form = Literal["hba", "cga"]
"""How locators are proved: by belonging to a set, and what came later by a signature; or all by a signature."""

SchedulingPolicy = Literal["fastest-first", "weighted-round-robin", "per-flow", "best-path", "redundant"]
"""How packets are shared out to paths."""

VrrpRole = Literal["active", "backup"]
"""Whether an edge is the router of its site, or another one is (RFC 9568)."""


class Address(TypedDict):
    """An address of a host, and how sure that is."""

    address: str
    """IPv6 address"""
    state: str
    """reachable, stale or probe (RFC 4861)"""


class AdmissionAnswer(TypedDict):
    """Who is let in."""

    sessions: int
    """sessions that stand"""
    places: int
    """of the cache that are taken, also by what hosts here ask for"""
    capacity: int
    """places of the cache in all"""
    count: int
    """others may open sessions as long as no more places are taken"""
    resources_used: float
    """of the switch's room for sessions, from 0 to 1"""
    resources: float
    """others may open sessions as long as no more is used"""
    rate: float | None
    """new sessions a second from a prefix; null is without bound"""
    burst: float
    """new sessions that a prefix may begin at once, before `rate` counts"""
    rate_prefix: int
    """the length of such a prefix"""
    nonce_octets: int
    """length of nonces in octets"""
    nonce_use: str
    """which packets bear a nonce: all of them, or those of the beginning"""
    naive: bool
    """each packet with a nonce makes a session: for experiments only"""
    idle: float
    """seconds without a packet after which a session is collected"""


class AssociationAnswer(TypedDict):
    """An association of a host here."""

    local: str
    """the address of the host here; its HIT if it speaks HIP itself"""
    peer: str
    """the address that it knows its peer by, or that one's HIT"""
    local_hit: str
    """HIT of the host here"""
    peer_hit: str
    """HIT of its peer"""
    spoken_by: str
    """edge or host"""
    state: str
    """of the HIP state machine (RFC 7401, section 4.4), as established"""
    session: int | None
    """the number of its session"""
    locators: list[str]
    """where the peer is for certain, what it prefers first"""
    unverified: list[str]
    """where it says that it is"""
    spis: list[int]
    """of a host that speaks itself: what it receives"""
    peer_spis: list[int]
    """what its peer receives"""


class AssociationChange(TypedDict):
    """What is to be done about which association."""

    local: str
    """address of the host here, or its HIT"""
    peer: str
    """address that it knows its peer by, or the HIT of that one"""
    wish: AssociationAction
    """what is to be done: connect, renew its keys, or close it"""


class Bindings(TypedDict):
    """All bindings, and all ports."""

    bindings: list[HostBinding]
    """addresses with the port and station of each"""
    ports: list[PortUse]
    """what each port has of the tables"""


class Change(TypedDict):
    """All of it at once, or nothing: first what goes, then what comes or is replaced."""

    remove: NotRequired[dict[str, list[str]]]
    """names by kind"""
    put: NotRequired[dict[str, list[dict[str, Any]]]]
    """keys as in the configuration"""


class Changed(TypedDict):
    """What came of a change."""

    saved: bool
    """it survives a restart of the controller, since controller.changes names a file"""
    written: bool
    """it is on the switch; else it will be when the switch is there"""


class ConfiguredPath(TypedDict):
    """A path as the configuration names it, with what it is taken to be now."""

    provider: str
    """provider that it leaves by"""
    remote: str | None
    """where the peer's locators are; null is anywhere"""
    delay: float
    """seconds, one way"""
    bandwidth: float
    """bit/s"""
    trace: str | None
    """by which traces it is measured"""
    probe: str | None
    """the peer's segment that sends this edge's probes back"""
    measured: bool
    """whether traces said something else than the configuration"""
    told_by: EstimateOrigin
    """where the figures come from: configuration, probes, traces or brought"""
    told_seconds_ago: float | None
    """how old they are; null of the configuration's"""
    missing: str
    """why the configuration counts, where traces are asked for"""


class ConfiguredTrace(TypedDict):
    """A trace that packets get."""

    name: str
    """name of the trace in the configuration"""
    namespace: int
    """IOAM namespace"""
    fields: list[str]
    """what each node is to write"""
    octets: int
    """room for what nodes write, in octets"""
    share: str
    """which packets get it: 1/10 is one of ten"""
    kind: str
    """trace, direct export, loopback or probe"""
    packets: int | None
    """that got it or were counted for it; none while the switch is not there"""


class Draining(TypedDict):
    """Whether sessions are to leave a provider."""

    draining: bool
    """true: sessions leave it while it still works; false: they use it again"""


class Drop(TypedDict):
    """A reason for drops that counted some."""

    reason: int
    """number of the drop reason"""
    name: str
    """the drop reason in words"""
    where: Literal["ingress", "egress"]
    """where in the pipeline it was dropped"""
    packets: int
    """packets dropped"""
    bytes: int
    """octets of the packets dropped"""


class EncapsulationItem(TypedDict):
    """A thing that packets carry, or that says what becomes of them."""

    kind: Literal["namespace", "trace", "policy", "source_route", "vrf_route", "hmac_key", "segment", "encapsulation"]
    """kind of table of the configuration that it stands in"""
    name: str
    """its name, id, segment or prefix"""
    origin: str
    """file, or live: changed since"""
    values: dict[str, Any]
    """its keys as in the configuration; secrets are left out"""


class Event(TypedDict):
    """Something that happened."""

    sequence: int
    """number of the event, from 1 since the controller started"""
    time: str
    """UTC, ISO 8601"""
    kind: str
    """what kind of event: its subject's kind and what happened, as in switch.up"""
    severity: str
    """info, warning or error"""
    subject: str
    """what it happened to, as a session, a provider or an address"""
    text: str
    """what happened, in words"""
    details: dict[str, Any]
    """values that belong to this kind of event"""


class ExportedFlow(TypedDict):
    """Packets that asked for direct export, as a node saw them."""

    namespace: int
    """IOAM namespace"""
    flow: int
    """flow number of the direct export option (RFC 9326)"""
    node: int
    """IOAM node that exported"""
    first: str
    """when its first packet was seen; UTC, ISO 8601"""
    last: str
    """when its last packet was seen; UTC, ISO 8601"""
    seen: int
    """packets that the node exported"""
    expected: int
    """by the sequence numbers between the lowest and the highest"""
    lost: int
    """on the way to this node, or left out by the switch for their rate"""
    restarts: int
    """how often the sequence numbers began anew"""
    hop_limit: int
    """hop limit of the last packet at the node"""
    ingress: int
    """port that the last packet came by"""
    egress: int
    """port that it left by"""


class FleetAnswer(TypedDict):
    """A controller in its fleet."""

    edge: str
    """name of the edge in the fleet"""
    controller: str
    """name of this controller"""
    leads: bool
    """whether this controller leads the edge"""
    election_id: str | None
    """its P4Runtime election id, of 128 bits; null if another leads"""
    vrrp: VrrpRole | None
    """whether this edge is the router of its site or its backup; null where it has no other edge"""
    unwritten: int
    """values for a successor that etcd does not have yet"""
    why: str
    """why nothing can be changed here now; empty if it can"""


class FlowAnswer(TypedDict):
    """A flow whose provider failed."""

    ago: float
    """seconds"""
    local: str
    """address of the host here"""
    local_port: int
    """its TCP or UDP port"""
    remote: str
    """address of the other end"""
    remote_port: int
    """its port"""
    protocol: int
    """protocol number: 6 is TCP, 17 UDP"""
    provider: str
    """provider that the flow went by"""
    fate: str
    """lost, moved (under another address) or went on"""
    why: str
    """what happened to the provider"""


class ForkedPorts(TypedDict):
    """Which flows shall have a session of their own."""

    local_port: int
    """the port of the host here"""
    peer_port: int
    """the peer's port"""


class GroupAnswer(TypedDict):
    """Sessions of a schedule: they know what the others send."""

    number: int
    """of their registers on the switch"""
    generation: int
    """goes up when the registers begin anew"""
    sessions: list[int]
    """numbers of its sessions; none where too few paths work"""
    replicated: list[int]
    """those of them whose packets go in several copies (policy redundant)"""
    numbered: list[int]
    """those whose packets are numbered, so that the peer's edge reports them"""
    in_order: list[int]
    """those whose packets are put in order, and go again where a path lost them (reinjection)"""
    paths: list[PathOfGroup]
    """that any of them takes, or left"""


class GuardedVlan(TypedDict):
    """What is checked of packets of a VLAN; nothing is where the port is trusted."""

    vlan: int
    """VLAN number"""
    guards: list[str]
    """what is checked: source_guard, nd_inspection, ra_guard, dhcpv6_guard"""


class HipHostAnswer(TypedDict):
    """A host that the edge speaks for."""

    address: str
    """IPv6 address of the host"""
    hit: str
    """its host identity tag (HIT, RFC 7401)"""
    algorithm: str
    """of its host identity: RSA or ECDSA"""
    record: str
    """its HIP record for the DNS, behind the name (RFC 8005)"""


class HipHostsAnswer(TypedDict):
    """Who is known, and how much work it is to ask."""

    hosts: list[HipHostAnswer]
    """hosts here that have a host identity"""
    peers: list[HipPeerAnswer]
    """peers that are known by configuration or DNS"""
    difficulty: int
    """bits of a puzzle for who asks now"""
    least_difficulty: int
    """bits of a puzzle while nobody hurries"""
    max_difficulty: int
    """most bits that a puzzle gets"""


class HipPeerAnswer(TypedDict):
    """Somebody whom hosts here may have associations with."""

    address: str
    """IPv6 address that hosts here know the peer by"""
    hit: str
    """the peer's host identity tag (HIT)"""


class Host(TypedDict):
    """A station with the addresses that it answers for."""

    vlan: int
    """VLAN that the station is on"""
    mac: str
    """MAC address of the station"""
    port: int | None
    """none: it has addresses, but was not heard lately"""
    port_name: str | None
    """name of the port that it was heard behind"""
    addresses: list[Address]
    """IPv6 addresses that it answers for"""


class HostBinding(TypedDict):
    """An address, and whose it is."""

    vlan: int
    """VLAN that the address is used in"""
    address: str
    """IPv6 address"""
    port: int
    """number of the port that it is bound to"""
    mac: str
    """MAC address of the station that it is bound to"""
    origin: Literal["used", "leased"]
    """leased: the edge gave it by DHCPv6"""


class HostIdentity(TypedDict):
    """The identity of a host."""

    interface: str
    """name of the interface that the host is at"""
    state: Literal["leased", "left", "mapped"]
    """leased by DHCPv6; left: the lease ended, the host may come back; mapped to an address of its own"""
    host: str
    """its own address where it is mapped, else its DUID and IAID"""
    mac: str | None
    """of the station that uses the address, if one was heard"""
    addresses: list[str]
    """addresses that the host has by its identity"""
    locators: list[HostLocator]
    """where it can be reached, and what proves each"""
    sec: int
    """Sec of the CGA (RFC 3972): what the search for its modifier cost, 0 to 7"""
    seconds: float | None
    """until the lease ends; null where it has no end"""


class HostLocator(TypedDict):
    """Where a host can be reached, and what proves it."""

    address: str
    """IPv6 address that reaches the host"""
    proof: Literal["set", "signature"]
    """set: the identity was made for all its prefixes (HBA); signature: its key signs (CGA)"""


class HostName(TypedDict):
    """A name that this edge tells the DNS of."""

    name: str
    """domain name of the host"""
    told: str
    """what the DNS was told of it last"""
    is_told: bool
    """whether the server took it"""


class HostPrefix(TypedDict):
    """A prefix in which hosts of a link can be reached."""

    prefix: str
    """IPv6 prefix, as /64"""
    state: Literal["configured", "preferred", "deprecated"]
    """configured by the file; else of a provider, and preferred or deprecated for new connections"""
    seconds: float | None
    """that it is valid still; null is for ever"""


class IdentityBook(TypedDict):
    """All links and hosts; both are empty where the configuration has no identities."""

    links: list[IdentityLink]
    """links whose hosts get identities"""
    hosts: list[HostIdentity]
    """hosts with an identity"""


class IdentityLink(TypedDict):
    """A link whose hosts get identities."""

    interface: str
    """name of the interface in the configuration"""
    form: Form
    """what proves locators: hba, that they are a set, and for later ones a signature; cga, a signature"""
    hosts: int
    """that have an identity, or had one and may come back"""
    prepared: int
    """identities for hosts to come"""
    prefixes: list[HostPrefix]
    """prefixes that its hosts can be reached in"""


class IlnpProvider(TypedDict):
    """A provider of the sites here."""

    name: str
    """name of the provider in the configuration"""
    prefix: str
    """prefix that sites have by it"""
    state: str
    """up, down, or to be left"""


class IlnpSessionAnswer(TypedDict):
    """A session between identifiers."""

    number: int
    """number of the session"""
    local: str
    """the identifier of the host here"""
    peer: str
    """the identifier of its peer"""
    local_address: str
    """the address that the host has"""
    peer_address: str
    """the address that it knows its peer by"""
    state: str
    """acknowledged or established"""
    source: str
    """the locator that packets leave from"""
    provider: str | None
    """provider that packets leave by; null where none has the locator"""
    destination: str
    """the locator that they go to"""
    reason: str
    """why they go that way"""
    nonce_octets: int
    """length of its nonces in octets"""
    bears_nonce: bool
    """whether all packets bear it now"""
    telling: str
    """whether the peer knows our locators: told, under way, unheard"""
    peer_locators: list[PeerLocator]
    """locators that the peer told, or the DNS"""


class KnownNamespace(TypedDict):
    """What this node says of itself in a namespace."""

    id: int
    """IOAM namespace"""
    node: int
    """number of this node there, 24 bits"""
    node_wide: int
    """its wide number, 56 bits"""
    ports: list[int]
    """ports that packets of the namespace may come by"""
    export: bool
    """whether direct exports are made for it"""
    traces: int | None
    """packets with a trace that this node wrote into, or could have"""
    exports: int | None
    """direct exports that this node made; null while the switch is not there"""


class MoveRequest(TypedDict):
    """Where a session should go."""

    path: str
    """a path's number, or LOCAL,PEER"""


class NamesAnswer(TypedDict):
    """What the DNS is told and asked."""

    server: str | None
    """DNS server that is told and asked; null where there is none"""
    hosts: list[HostName]
    """names that it is told of"""
    peers: list[PeerName]
    """names that it is asked for"""


class NextHop(TypedDict):
    """A next hop of a route."""

    address: str
    """IPv6 address of the router"""
    interface: str
    """interface that it is behind"""
    weight: int
    """share of the flows, relative to the other next hops (ECMP)"""
    health: str
    """unknown (used until it fails), up or down"""


class Nptv6Answer(TypedDict):
    """The border of the site."""

    providers: list[ProviderAnswer]
    """providers, and what flows make of each"""
    counts: dict[str, int]
    """flows by what became of them"""
    flows: list[FlowAnswer]
    """the last of them"""


class Nptv6Request(TypedDict):
    """Other shares for new flows of a prefix; policies of the configuration keep their places, others come behind."""

    inside: str
    """prefix inside that the rules are for"""
    providers: NotRequired[list[str] | None]
    """providers of flows that no policy is for; null leaves them"""
    weights: NotRequired[list[int] | None]
    """share of each of them, in their order; null leaves them"""
    policy: NotRequired[list[dict[str, Any]]]
    """keys as in the configuration"""


class Outcome(TypedDict):
    """Where the packet, or a copy of it, ended."""

    copy_of_packet: int
    """0 is the packet itself, others are copies that the pipeline made of it"""
    what: Literal["sent", "to controller", "dropped", "lost"]
    """sent by a port, punted to the controller, dropped by the pipeline, or lost by the port"""
    port: int | None
    """egress port; none where it was dropped"""
    port_name: str | None
    """name of the egress port"""
    reason: int | None
    """number of the drop reason; none where it was not dropped, or where the controller has it"""
    why: str | None
    """the drop reason, or why the port did not take it, in words"""


class PacketTrace(TypedDict):
    """What became of the packet that was submitted."""

    port: int
    """switch port that the packet came in by"""
    port_name: str
    """name of that port"""
    tables: list[TableLookup]
    """tables that it met, in their order"""
    outcomes: list[Outcome]
    """where it and its copies ended"""
    sent: str
    """octets of the frame as it came in, in hexadecimal"""
    unresolved: bool
    """whether nobody on its link answers for the destination, so that it was sent to the router's MAC"""


class Path(TypedDict):
    """A path of a session."""

    number: int
    """number of the path in its session"""
    local: str
    """our locator"""
    peer: str
    """the peer's locator"""
    provider: str | None
    """by whom it leaves"""
    header: bool
    """whether its packets bear a payload header; those with the identities need none"""
    state: str
    """works, not tried, does not answer, or its provider is down"""
    backup: int | None
    """where the switch goes if there is no answer"""
    sent_packets: int | None
    """packets sent by it; null while the switch is not there"""
    sent_bytes: int | None
    """octets of these"""
    received_packets: int | None
    """packets received by it; null while the switch is not there"""
    received_bytes: int | None
    """octets of these"""


class PathNode(TypedDict):
    """A node on a path."""

    node: int
    """IOAM node number"""
    ingress: int | None
    """the port that packets last came by"""
    egress: int | None
    """the port that packets last left by"""
    delay: Values | None
    """nanoseconds in the node"""
    queue: Values | None
    """packets in its queue"""


class PathOfGroup(TypedDict):
    """A path that sessions go by, or left, and what the switch told of it last; null is nothing."""

    name: str
    """provider, and where the peer is"""
    state: str
    """open or closed, as the switch told last; left: no session takes it"""
    why: str
    """what closed or opened it, or why no session takes it"""
    for_seconds: float | None
    """since when it is closed, open again or left"""
    late: float | None
    """seconds that its last mark was late"""
    delay: float | None
    """as the marks have it"""
    bandwidth: float | None
    """as the marks have it"""
    queue: float | None
    """seconds that what fits into its queue takes, as configured or as losses have it; null if unknown"""
    window: int | None
    """octets that may be under way by it: bandwidth times delay and queue; null if unknown"""
    reported_seconds_ago: float | None
    """how long ago the switch last told of peers' reports, as it does once in a probe interval at most"""
    packets: int
    """that peers' edges reported of in all, with feedback, since the paths were last known anew; of them"""
    lost: int
    """those that did not come"""
    marked: int
    """those that met congestion (ECN)"""


class PathTelemetry(TypedDict):
    """A path and its figures."""

    id: str
    """name of the path: namespace, and its nodes with their ports"""
    namespace: int
    """IOAM namespace"""
    complete: bool
    """false: the trace had no room for all nodes"""
    first: str
    """when the first trace came; UTC, ISO 8601"""
    last: str
    """when the last trace came; UTC, ISO 8601"""
    count: int
    """ioam_traces"""
    delay: Values | None
    """nanoseconds from the first node to the last one, by their clocks"""
    jitter: float | None
    """nanoseconds that the delay changes from packet to packet (RFC 3550)"""
    inside: Values | None
    """nanoseconds inside the nodes altogether"""
    queue: Values | None
    """packets in the longest queue"""
    nodes: list[PathNode]
    """nodes that wrote into the trace, the first one first"""


class PeerLocator(TypedDict):
    """A locator of a peer."""

    locator: str
    """64-bit locator, as 2001:db8:1:2::/64 is written"""
    preference: int
    """lower goes first"""
    validity: str
    """valid, active, expired, aged"""


class PeerName(TypedDict):
    """A peer that is looked up by its name."""

    name: str
    """domain name of the peer"""
    identifier: str
    """its 64-bit identifier"""
    found: str | None
    """what the DNS said last; null if it was not asked"""


class PinholeAnswer(TypedDict):
    """A pinhole."""

    inside: str
    """address or prefix inside"""
    protocol: str | None
    """tcp, udp, icmpv6 or sctp; null is any"""
    ports: str | None
    """ports of the host inside; null is any"""
    origin: str
    """file, or live: opened since"""
    packets: int | None
    """that it let in or out, if the switch is there"""


class PinholeRequest(TypedDict):
    """Flows that may begin outside, with the keys of the configuration; what is null does not matter."""

    inside: str
    """an address inside, or a prefix"""
    protocol: NotRequired[str | None]
    """tcp, udp, icmpv6 or sctp"""
    ports: NotRequired[str | None]
    """of the host inside: one, or two as in 5000-5999"""


class PinholesAnswer(TypedDict):
    """Simple security."""

    enabled: bool
    """whether only what answers comes in"""
    filtering: Filtering
    """what may come in to a host that sent something: by which part of the sender (RFC 6092)"""
    pinholes: list[PinholeAnswer]
    """flows that may begin outside"""


class PolicyAnswer(TypedDict):
    """Which flows go by which providers; what is null does not matter."""

    local: str | None
    """prefix of hosts here"""
    remote: str | None
    """prefix of the other ends"""
    protocol: int | None
    """protocol number"""
    local_ports: str | None
    """ports of hosts here, as 1000-1999"""
    remote_ports: str | None
    """ports of the other ends"""
    providers: list[str]
    """providers that these flows may go by"""
    weights: list[int]
    """share of each of them, in their order"""
    origin: str
    """file, or live: added since"""


class PolicyRequest(TypedDict):
    """How packets are to be shared out."""

    policy: SchedulingPolicy
    """how packets are to be shared out from now on"""


class Port(TypedDict):
    """A port and what passed it."""

    number: int
    """port number on the switch"""
    name: str
    """name of the port in the configuration"""
    vlan: int | None
    """VLAN of untagged frames; none: they are dropped"""
    tagged: list[int]
    """VLANs whose frames are tagged here"""
    mtu: int
    """MTU in octets, without the Ethernet header"""
    up: bool | None
    """whether its link is up; none: the switch does not say"""
    received_packets: int
    """packets that came in"""
    received_bytes: int
    """octets that came in"""
    sent_packets: int
    """packets that left"""
    sent_bytes: int
    """octets that left"""


class PortLoss(TypedDict):
    """Frames that a port of the switch lost before or behind its tables."""

    port: int
    """port number on the switch"""
    port_name: str
    """name of the port; empty: it is not in the configuration"""
    reason: str
    """port_refused, too_long, unknown_offload or overrun"""
    name: str
    """the reason in words"""
    packets: int
    """frames lost since the switch started"""


class PortUse(TypedDict):
    """What a port has of the tables, and the most that it may have."""

    port: int
    """number of the port"""
    name: str
    """name of the port"""
    vlans: list[GuardedVlan]
    """VLANs that the port carries, with what is checked in each"""
    stations: int
    """MAC addresses learned behind the port"""
    max_macs: int
    """most that may be learned there (`max_macs`)"""
    bindings: int
    """addresses bound to the port"""
    neighbours: int
    """neighbour entries of addresses behind the port"""
    max_addresses: int
    """most bindings, and neighbours, that it may have (`max_addresses`)"""


class PreferenceRequest(TypedDict):
    """Which path flows of a policy should take in a session."""

    policy: str
    """the name of a path policy of the configuration"""
    path: NotRequired[str | None]
    """a path's number, or LOCAL,PEER; left out: as the policy says"""


class ProviderAnswer(TypedDict):
    """A provider as flows see it."""

    name: str
    """name of the provider in the configuration"""
    prefix: str
    """what its flows bear outside"""
    inside: str
    """what they bear inside"""
    state: str
    """works, or down"""
    down_for: float | None
    """seconds since it failed"""
    home: int
    """buckets of flows that are at home with it"""
    serves: int
    """buckets whose new flows go by it now"""
    sent_packets: int | None
    """packets translated on their way out; null while the switch is not there"""
    sent_bytes: int | None
    """octets of these"""
    received_packets: int | None
    """packets translated on their way in; null while the switch is not there"""
    received_bytes: int | None
    """octets of these"""


class ProviderPrefix(TypedDict):
    """A prefix of a provider."""

    prefix: str
    """IPv6 prefix"""
    phase: str
    """preferred, deprecated (for what goes by it already) or ended"""
    preferred: float | None
    """seconds for which it is preferred; null is without end"""
    valid: float | None
    """seconds for which it is valid; null is without end"""


class ProviderState(TypedDict):
    """A provider, as all that choose among providers see it."""

    name: str
    """name of the provider in the configuration"""
    prefix: str | None
    """the one for new things; null of a provider that has none yet"""
    prefix_source: str
    """configuration or dhcpv6-pd"""
    prefixes: list[ProviderPrefix]
    """all that it has, the best first"""
    routers: list[str]
    """its next hops"""
    used: bool
    """whether new things go by it"""
    why: str
    """what is wrong with it; it may be used all the same where no other works"""
    source: str | None
    """the address that probes come from; null of one that is not tracked"""
    unexpected_answers: int
    """packets to that address that answer no probe"""
    targets: list[TargetAnswer]
    """who beyond it is asked, and what they say"""


class RateLimitedPunts(TypedDict):
    """A class of packets for the controller that were too many by a port."""

    punt_class: int
    """the punt reason, or 35 and more for what the tables know"""
    name: str
    """the class in words"""
    port: int
    """number of the port that they came by"""
    port_name: str
    """name of that port"""
    switch: int
    """above a rate of the switch"""
    controller: int
    """no room in the controller"""


class Reloaded(TypedDict):
    """What came of it."""

    changed: list[str]
    """sections of the configuration that say something else now"""


class Route(TypedDict):
    """A route as it stands now."""

    prefix: str
    """destination prefix"""
    kind: str
    """connected, static, prohibited or discard; of a route of Linux who put it there: bgp, ra, static"""
    origin: Literal["configuration", "linux"]
    """who said the route: the configuration, or Linux by netlink"""
    interface: str | None
    """of a connected route"""
    address: str | None
    """the router's own, of a connected route"""
    via: list[NextHop]
    """next hops; none: the route is connected, or refuses packets"""
    used: bool
    """false while no next hop answers or the configuration has the prefix"""


class RulesAnswer(TypedDict):
    """A prefix inside, and how its new flows are shared out; the first policy that fits counts."""

    inside: str
    """prefix inside that is translated"""
    providers: list[str]
    """providers of flows that no policy is for"""
    weights: list[int]
    """share of each of them, in their order"""
    policies: list[PolicyAnswer]
    """policies, in the order that they are tried"""


class ScheduleAnswer(TypedDict):
    """A schedule as it is now."""

    name: str
    """name of the schedule in the configuration"""
    policy: SchedulingPolicy
    """how packets are shared out now"""
    configured: SchedulingPolicy
    """the policy of the configuration"""
    source: str
    """where delays and bandwidths come from: fixed, marks, feedback or ioam"""
    close: bool
    """whether late paths, and those that lose packets, are closed"""
    tolerance: float
    """seconds that a marked packet may be late before its path is closed"""
    probe_interval: float
    """seconds between two probes of a closed path"""
    hold: float
    """seconds for which senders do not hear that a packet is missing; 0: they do at once"""
    reinjection: bool
    """whether what a path loses is to go by the others, with feedback: `in_order` of groups says where"""
    framing: int
    """octets that links add to each packet"""
    copies: int
    """in how many each packet goes with policy redundant"""
    paths: list[ConfiguredPath]
    """paths that it has in the configuration"""
    groups: list[GroupAnswer]
    """sessions that use it, by the paths that they share"""


class SessionAnswer(TypedDict):
    """A session as it stands now."""

    number: int
    """number of the session"""
    local: str
    """the identity of the host here"""
    peer: str
    """the identity of its peer"""
    path: int
    """the path in use"""
    schedule: str | None
    """whose paths its packets take instead, if any"""
    scheduled_paths: list[int]
    """those paths"""
    figures: str | None
    """where that schedule's delays and bandwidths come from"""
    numbered: bool
    """whether its two edges agreed that packets are numbered by path, and reported"""
    in_order: bool
    """whether they put packets in order, and send again what a path lost (reinjection)"""
    takes_copies: bool
    """whether the peer's edge said that it drops what comes twice (policy redundant)"""
    reason: str
    """why it is on this path"""
    generation: int
    """goes up whenever the controller moves the session"""
    send_timeout: float
    """seconds without an answer after which a path is left (Tsend)"""
    keepalive: float
    """seconds of silence after which a keepalive is sent"""
    state: str
    """what is being done about it"""
    fork_of: int | None
    """the session that this one was forked from"""
    ports: list[int] | None
    """of a fork: our host's port and the peer's"""
    preferred: dict[str, int]
    """paths of flows that take their own, by path policy"""
    replicated: dict[str, int]
    """in how many copies packets of flows go, each by another path, by path policy"""
    forks: list[int]
    """the sessions that were forked from this one"""
    paths: list[Path]
    """paths that it knows"""


class SessionTrigger(TypedDict):
    """When the edge sets up a session for hosts of these prefixes."""

    protocol: str
    """protocol of the sessions"""
    prefixes: list[str]
    """prefixes of the hosts"""
    bytes: int
    """octets that two hosts exchange before; 0: never for their number"""
    seconds: float
    """seconds that two hosts talk before; 0: never for their time"""
    rule: str | None
    """name of the user's own rule, which says so instead; none: there is none"""


class Smoothed(TypedDict):
    """A value that was seen again and again, as `/v1/ioam/paths` has it."""

    smoothed: float
    """smoothed value"""
    count: int
    """how many values there were"""


class Status(TypedDict):
    """The controller and its switch."""

    version: str
    """version of the controller"""
    uptime: float
    """seconds that the controller runs"""
    pipeline: str
    """the program's name and version"""
    switch: SwitchStatus
    """the switch, and the way to it"""
    waits_for: list[str]
    """what is missing until the edge is up, in words; nothing: it is up"""
    ports: int
    """ports in the configuration"""
    stations: int
    """entries of the FDB: MACs that were learned"""
    neighbours: int
    """entries of the neighbour cache"""
    routes: int
    """routes of the configuration and of Linux"""
    events: int
    """number of the last event"""
    captures: int
    """captures that are open"""


class SwitchStatus(TypedDict):
    """The switch and the way to it."""

    address: str
    """gRPC address of the switch"""
    device_id: int
    """P4Runtime device id of the switch"""
    target: str
    """kind of target: embedded or bmv2"""
    state: str
    """ready; connecting; or waiting: in a fleet, this controller does not lead the edge"""
    reconnects: int
    """times that the way to the switch was lost and found again"""
    writes: int
    """updates written"""
    failed_writes: int
    """updates that the switch refused"""


class Table(TypedDict):
    """A table with its entries."""

    name: str
    """name of the table in P4Info"""
    about: str
    """what the table is for"""
    size: int
    """entries that it has room for"""
    entries: list[TableEntry]
    """its entries"""


class TableEntry(TypedDict):
    """An entry in words: numbers as numbers, addresses as they are written."""

    match: dict[str, str | int]
    """value of each match field; a prefix with its length"""
    action: str
    """action of the entry; `group` is an action selector group"""
    parameters: dict[str, str | int]
    """parameters of the action; secrets are `...`"""
    priority: int
    """priority among entries that match; 0 where keys are exact or longest prefixes"""
    packets: int
    """packets that matched"""
    bytes: int
    """octets of the packets that matched"""


class TableLookup(TypedDict):
    """A table that the packet met."""

    copy_of_packet: int
    """0 is the packet itself, others are copies that the pipeline made of it"""
    block: str
    """ingress or egress"""
    table: str
    """name of the table"""
    key: dict[str, str | int]
    """what was looked up: value of each key field"""
    hit: bool
    """whether an entry matched"""
    action: str
    """action of the entry that matched; else the default action"""
    arguments: dict[str, str | int]
    """arguments of the action"""


class TableSummary(TypedDict):
    """A table of the switch and how much of it is used."""

    name: str
    """name of the table in P4Info"""
    about: str
    """what the table is for"""
    size: int
    """entries that it has room for"""
    entries: int
    """entries that it holds"""
    packets: int
    """packets that its entries counted"""
    bytes: int
    """octets that its entries counted"""


class TargetAnswer(TypedDict):
    """Somebody beyond a provider who is asked through it."""

    target: str
    """who is asked: an address, a TCP port or a DNS server, as the configuration has it"""
    up: bool
    """whether it answers as often and as fast as is wanted"""
    loss: float | None
    """part of the last 20 probes that was lost; null before the first"""
    delay: float | None
    """mean round trip of those that were answered, in seconds"""
    why: str
    """why it is down"""


class TraceNode(TypedDict):
    """What a node wrote into a trace; what it did not is left out."""

    hop_limit: int | None
    """hop limit of the packet at the node"""
    node: int | None
    """IOAM node number, 24 bits"""
    node_wide: int | None
    """IOAM node number, 56 bits"""
    ingress: int | None
    """port that the packet came by"""
    egress: int | None
    """port that it left by"""
    time: int | None
    """POSIX, in microseconds"""
    delay: int | None
    """nanoseconds that the packet was in the node"""
    data: int | None
    """data of the node's namespace, 32 bits"""
    data_wide: int | None
    """data of the node's namespace, 64 bits"""
    queue: int | None
    """packets in the queue that it waited in"""
    schema: int | None
    """number of the schema of the opaque state snapshot"""
    snapshot: str
    """opaque state snapshot, in hexadecimal"""


class TraceRecord(TypedDict):
    """A trace as it came."""

    sequence: int
    """number of the trace, one more each time"""
    time: str
    """when it came; UTC, ISO 8601"""
    path: str
    """name of the path, as in `/v1/ioam/paths`"""
    source: str
    """IPv6 source of the packet"""
    destination: str
    """IPv6 destination of the packet"""
    type: int
    """trace type: a bit for each field that nodes write (RFC 9197)"""
    flags: int
    """flags of the trace option"""
    nodes: list[TraceNode]
    """what the nodes wrote, the first one first"""


class TraceWish(TypedDict):
    """The packet to follow: an IPv6 packet of a host, without data."""

    source: str
    """source address of the packet"""
    destination: str
    """destination address of the packet"""
    port: NotRequired[str | None]
    """port that it comes in by: its name, its number, or a host there; none: where its source is"""
    protocol: NotRequired[Literal["icmp", "tcp", "udp"]]
    """what it carries: an echo request, a TCP SYN, or an empty UDP datagram"""
    source_port: NotRequired[int]
    """TCP or UDP source port"""
    destination_port: NotRequired[int]
    """TCP or UDP destination port"""
    hop_limit: NotRequired[int]
    """hop limit of the packet as it comes in"""


class TracedNode(TypedDict):
    """A node that packets waited in."""

    delay: NotRequired[Smoothed | None]
    """nanoseconds in the node"""
    queue: NotRequired[Smoothed | None]
    """packets in its queue"""


class TracedPath(TypedDict):
    """Of what `/v1/ioam/paths` of another controller answers, what schedules need; the rest may be there."""

    id: str
    """name of the path"""
    count: int
    """traces; without new ones nothing is new"""
    delay: NotRequired[Smoothed | None]
    """nanoseconds from the first node to the last one"""
    inside: NotRequired[Smoothed | None]
    """nanoseconds inside the nodes altogether"""
    nodes: NotRequired[list[TracedNode]]
    """nodes of the path"""


class Values(TypedDict):
    """A value that was seen again and again."""

    last: int
    """the last value"""
    least: int
    """the least value so far"""
    most: int
    """the greatest value so far"""
    smoothed: float
    """smoothed value: each new one counts for an eighth"""
    count: int
    """how many values there were"""
