"""What goes into an `Edge` and what comes out.

An adapter (finsy and the wall clock, or the switch in process and a virtual clock) does this, and nothing else:

    edge.receive(input, now)     whatever happened, at seconds of the adapter's own clock
    edge.take_outputs()          afterwards, each to be carried out in order: a write is done before the next goes out
    edge.next_timer()            when to call handle_timer(now) at the latest; None is never
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from ipaddress import IPv6Address

import finsy as fy

from wayname.config.encapsulation.model import EncapsulationConfig
from wayname.config.links import LinkAddress
from wayname.config.names import Transport
from wayname.config.nptv6 import Nptv6
from wayname.config.provider import Learned
from wayname.config.schedules import SchedulingPolicy
from wayname.config.simple_security import Pinhole
from wayname.ioam.path_metrics import PathMetrics
from wayname.netlink.messages import Message
from wayname.p4_constants import FlowEventKind, PacketOutKind, PathEventKind, SessionEventKind
from wayname.pipeline.entries import Entity
from wayname.wire.flow import Flow

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]


@dataclass(frozen=True, slots=True)
class SwitchUp:
    """The switch runs our pipeline and listens to us; these entities are on it.

    The epoch is when the adapter's clock was 0, in seconds of POSIX.
    """

    entities: list[Entity]
    epoch: float = 0.0
    # It was there all the time; the edge is new.
    resumed: bool = False


@dataclass(frozen=True, slots=True)
class SwitchDown:
    """The switch is out of reach."""

    reason: str


@dataclass(frozen=True, slots=True)
class PacketIn:
    """A packet for the controller, as it arrived, with what the `packet_in` header says of it."""

    payload: bytes
    reason: int
    port: int
    vlan: int
    # What the tables know of it; the reason, unless it is more.
    punt_class: int = 0


@dataclass(frozen=True, slots=True)
class LearnedMac:
    """A station that the switch did not know there; one member of a `learn` digest."""

    port: int
    vlan: int
    mac: int


@dataclass(frozen=True, slots=True)
class DirectExport:
    """What the switch saw of a packet that asks for it (RFC 9326); one member of a `direct_export` digest."""

    namespace: int
    type: int
    flow: int
    sequence: int
    node: int
    hop_limit: int
    ingress_port: int
    egress_port: int
    time: int
    data: int


@dataclass(frozen=True, slots=True)
class IdleEntry:
    """An entry that nothing has hit for its idle timeout."""

    entry: fy.P4TableEntry


@dataclass(frozen=True, slots=True)
class SessionEvent:
    """One member of a `session_events` digest; the age, in seconds, is that of the first unanswered packet."""

    kind: SessionEventKind
    session: int
    path_from: int
    path_to: int
    age: float


@dataclass(frozen=True, slots=True)
class PairActive:
    """Two addresses without a session exchanged enough to be worth one; a member of a `pair_active` digest."""

    source: IPv6Address
    destination: IPv6Address
    bytes: int
    age: float
    # A host here began; else the peer did, by TCP, and has shown that it is there.
    opened_here: bool


@dataclass(frozen=True, slots=True)
class PathEvent:
    """One member of a `path_events` digest: lateness and delay in seconds, bandwidth in bit/s."""

    kind: PathEventKind
    schedule: int
    session: int
    place: int
    path: int
    late: float
    delay: float
    bandwidth: float
    # What the peer reported of since the last event: packets, of them lost ones and such that met congestion.
    packets: int = 0
    lost: int = 0
    marked: int = 0
    # Seconds that what fits into its queue takes; None: nobody knows.
    queue: float | None = None


@dataclass(frozen=True, slots=True)
class FlowEvent:
    """A flow met a provider that does not work, or is one to look after; one member of a `flow_events` digest."""

    kind: FlowEventKind
    provider_from: int
    provider_to: int
    flow: Flow
    # Of the host's own session, if it speaks ILNP itself.
    nonce: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class FlowAdmitted:
    """A TCP flow whose SYN, SYN-ACK and ACK passed with nonces; a member of an `ilnp_flow` digest."""

    local: IPv6Address
    peer: IPv6Address
    nonce_to_peer: bytes = field(repr=False)
    nonce_from_peer: bytes = field(repr=False)
    opened_here: bool


@dataclass(frozen=True, slots=True)
class ModifierFound:
    """A search ended: with this modifier the hash of `tail` is as `sec` wants it."""

    tail: bytes
    sec: int
    modifier: bytes


@dataclass(frozen=True, slots=True)
class DnsQuery:
    """An output: a message for a DNS server, from a port of its own; what comes back to that is `DnsResponse`."""

    server: IPv6Address
    port: int
    transport: Transport
    message: bytes


@dataclass(frozen=True, slots=True)
class CancelDnsQuery:
    """An output: nothing that comes for this question is wanted any more."""

    question: DnsQuery


@dataclass(frozen=True, slots=True)
class DnsResponse:
    """What came from a DNS server to the port of a question."""

    question: DnsQuery
    message: bytes


@dataclass(frozen=True, slots=True)
class PublishHost:
    """An output: have other edges of the fleet find these octets at an address of a host; None is nothing any more."""

    address: IPv6Address
    octets: bytes | None


@dataclass(frozen=True, slots=True)
class FindHost:
    """An output: a question what the fleet's directory has at an address, asked for a host here that is there too."""

    address: IPv6Address
    asked_for: IPv6Address


@dataclass(frozen=True, slots=True)
class HostFound:
    """What the directory has; else why that is of no use, in a word or two, and in a line if somebody is to mend it."""

    question: FindHost
    octets: bytes | None
    why: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class KernelChanges:
    """What Linux has or lost; between `begins` and `ends` it names all it has, and what it does not name is gone."""

    messages: Sequence[Message]
    begins: bool = False
    ends: bool = False


class UpdateKind(Enum):
    """What is done to an entity."""

    INSERT = "insert"
    MODIFY = "modify"
    DELETE = "delete"


Update = tuple[UpdateKind, Entity]


@dataclass(frozen=True, slots=True)
class WriteFailed:
    """An update that the switch refused; the code is gRPC's."""

    update: Update
    code: int
    text: str


@dataclass(frozen=True, slots=True)
class SubmitPacket:
    """A command: have a frame go through the pipeline as if it had come in by a port."""

    payload: bytes
    port: int


@dataclass(frozen=True, slots=True)
class SeekNeighbour:
    """A command: ask on a link who has an address, unless that is known."""

    at: LinkAddress


@dataclass(frozen=True, slots=True)
class OpenCapture:
    """A command: copy what arrives by a port, what leaves by it, or both; the caller chose the number."""

    number: int
    port: int
    arriving: bool
    leaving: bool


@dataclass(frozen=True, slots=True)
class CloseCapture:
    """A command: end the capture of this number."""

    number: int


@dataclass(frozen=True, slots=True)
class SetEncapsulation:
    """A command: have packets carry this, and nothing that was said before."""

    current: EncapsulationConfig


@dataclass(frozen=True, slots=True)
class MoveSession:
    """A command: let a session use this path from now on; whoever sends it has asked whether it may."""

    session: int
    path: int


@dataclass(frozen=True, slots=True)
class PreferPath:
    """A command: let flows of a policy take this path in a session, or as the policy says."""

    session: int
    policy: str
    path: int | None


@dataclass(frozen=True, slots=True)
class ForkSession:
    """A command: give the flows between two ports a session of their own; whoever sends it has asked whether it may."""

    session: int
    local_port: int
    peer_port: int


@dataclass(frozen=True, slots=True)
class UnforkSession:
    """A command: end a fork, so that its flows are of their hosts' session again."""

    session: int


class AssociationAction(StrEnum):
    """What can be wanted of an association of HIP."""

    CONNECT = "connect"
    RENEW = "renew"
    CLOSE = "close"


@dataclass(frozen=True, slots=True)
class ChangeAssociation:
    """A command: do this about the association of two addresses; whoever sends it has asked whether it may."""

    local: IPv6Address
    peer: IPv6Address
    wish: AssociationAction


@dataclass(frozen=True, slots=True)
class DrainProvider:
    """A command: let sessions leave a provider while it still works, or let them use it again."""

    name: str
    leaving: bool


@dataclass(frozen=True, slots=True)
class LetGo:
    """A command: have the other edge of the site be its router, if that is there."""


@dataclass(frozen=True, slots=True)
class SetPolicy:
    """A command: have sessions of a schedule share their packets out this way from now on."""

    schedule: str
    policy: SchedulingPolicy


@dataclass(frozen=True, slots=True)
class SetNptv6:
    """A command: let new flows of a prefix inside go by providers as these rules say."""

    rules: Nptv6


@dataclass(frozen=True, slots=True)
class SetPinhole:
    """A command: open a pinhole in simple security, or close it."""

    pinhole: Pinhole
    opened: bool


@dataclass(frozen=True, slots=True)
class ImportPathEstimates:
    """A command: take what another controller knows of paths from traces that ended there."""

    paths: tuple[PathMetrics, ...]


OfSessions = (
    ChangeAssociation | ForkSession | UnforkSession | MoveSession | PreferPath | SetPolicy | ImportPathEstimates
)
Command = (
    OfSessions
    | SetNptv6
    | SetPinhole
    | OpenCapture
    | CloseCapture
    | SubmitPacket
    | SeekNeighbour
    | SetEncapsulation
    | DrainProvider
    | LetGo
)
Digest = LearnedMac | DirectExport | SessionEvent | PairActive | FlowEvent | FlowAdmitted | PathEvent
Input = (
    SwitchUp
    | SwitchDown
    | PacketIn
    | Digest
    | IdleEntry
    | WriteFailed
    | ModifierFound
    | DnsResponse
    | HostFound
    | KernelChanges
    | Command
)


@dataclass(frozen=True, slots=True)
class Write:
    """Updates to carry out in any order, before the next output; one that fails does not stop the others."""

    updates: list[Update]


@dataclass(frozen=True, slots=True)
class PacketOut:
    """A packet of the controller: sent by a port as it is, flooded in a VLAN, or submitted as if it came by a port.

    A keepalive leaves by its session's path if nothing else did lately; a check never leaves, the switch looks at its
    session.
    """

    payload: bytes
    kind: PacketOutKind
    port: int = 0
    vlan: int = 0


class Severity(StrEnum):
    """How much an event matters."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Event:
    """Something that people want to know: kind as in `station.moved`, subject as in a MAC, one line of text."""

    time: float
    kind: str
    severity: Severity
    subject: str
    text: str
    details: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Captured:
    """A packet for the capture of this number, as it arrived or as it left."""

    number: int
    payload: bytes
    arrives: bool


@dataclass(frozen=True, slots=True)
class Persist:
    """Something that a controller that is started again has to know, in place of what this key had; None is nothing."""

    key: str
    value: Json = field(repr=False)


@dataclass(frozen=True, slots=True)
class FindModifier:
    """A search that takes long: whoever does it says `ModifierFound`. It begins with a modifier of its own."""

    tail: bytes
    sec: int
    start: bytes


@dataclass(frozen=True, slots=True)
class LearnedFromProviders:
    """Providers have other prefixes or routers: the edge goes on by the configuration that is read with these."""

    learned: Mapping[str, Learned]


class VrrpRole(StrEnum):
    """Whether an edge is the router of its site, or another one is (RFC 9568)."""

    ACTIVE = "active"
    BACKUP = "backup"


@dataclass(frozen=True, slots=True)
class VrrpRoleWanted:
    """Another edge of this role is to go on in the place of this one; `why` is for people."""

    role: VrrpRole
    why: str


Output = (
    Write
    | PacketOut
    | Event
    | Captured
    | Persist
    | FindModifier
    | DnsQuery
    | CancelDnsQuery
    | PublishHost
    | FindHost
    | LearnedFromProviders
    | VrrpRoleWanted
)
