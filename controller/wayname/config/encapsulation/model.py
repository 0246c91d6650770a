"""What packets carry and what this node does with it, as configured. `docs/configuration.md` is the reference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntFlag, StrEnum
from functools import cached_property
from ipaddress import IPv4Network, IPv6Address, IPv6Network
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from wayname.config.checks import FarAddress, Name
from wayname.config.links import LinkAddress, Refusal
from wayname.config.tables import WORD, Table, between, count, mistake, secret

NO_SCHEMA = 0xFFFFFF
MOST_HOPS = 129
LOOPBACK_TYPE = 0x800000  # the one type whose traces may go back (RFC 9322, section 4.1)


class Behaviour(StrEnum):
    """What a segment of this node does (RFC 8986, section 4), or a hop of a source route (RFC 6554)."""

    END = "end"
    END_X = "end.x"
    END_T = "end.t"
    END_B6_ENCAPS = "end.b6.encaps"
    END_DX6 = "end.dx6"
    END_DX4 = "end.dx4"
    END_DT6 = "end.dt6"
    END_DT4 = "end.dt4"
    END_DT46 = "end.dt46"
    END_DX2 = "end.dx2"
    SOURCE_ROUTE_HOP = "source-route-hop"


class HmacUse(StrEnum):
    """What a segment asks of the lists that lead to it (RFC 8754, section 2.1.2)."""

    IGNORE = "ignore"
    CHECK = "check"
    REQUIRE = "require"


class HmacForm(StrEnum):
    """What an HMAC covers: as RFC 8754 has it, or as Linux still has it from an earlier draft."""

    RFC_8754 = "rfc8754"
    LINUX = "linux"


class Flavours(IntFlag):
    """How a segment treats the end of a list (RFC 8986, section 4.16)."""

    NONE = 0
    PSP = 1
    USP = 2
    USD = 4


class Mode(StrEnum):
    """How headers are put onto a packet."""

    INLINE = "inline"
    TUNNEL = "tunnel"
    AUTOMATIC = "automatic"
    REDUCED = "reduced"
    FRAME = "frame"
    FRAME_REDUCED = "frame-reduced"

    @property
    def number(self) -> int:
        """The mode's number in the tables."""
        return list(Mode).index(self) + 1


# The same as it is written: the keys of each table, by the kind of table.
EncapsulationTables = Mapping[str, Sequence[Mapping[str, Any]]]

# The bits of a trace type by what they ask for (RFC 9197, section 4.4.1).
FIELD_BITS = {
    "node": 0,
    "interfaces": 1,
    "seconds": 2,
    "fraction": 3,
    "delay": 4,
    "data": 5,
    "queue": 6,
    "checksum": 7,
    "node-wide": 8,
    "interfaces-wide": 9,
    "data-wide": 10,
    "buffers": 11,
    "snapshot": 22,
}
DEFINED_BITS = sum(1 << 23 - bit for bit in FIELD_BITS.values())
SNAPSHOT = 1 << 23 - FIELD_BITS["snapshot"]
_WIDE = 0b111 << 23 - 10


@dataclass(frozen=True, slots=True)
class LocalSid:
    """A segment, tunnel end or source route hop of this node."""

    prefix: IPv6Network
    behaviour: Behaviour
    flavours: Flavours = Flavours.NONE
    via: LinkAddress | None = None
    route_table: int = 0
    policy: str = ""
    reduced: bool = False
    port: int = 0
    hmac: HmacUse = HmacUse.IGNORE


def filled(text: str) -> str:
    """Return a text that is not empty."""
    if not text:
        raise ValueError("it is empty")
    return text


KeyNumber = Annotated[int, between(1, 2**32 - 1)]
KeyText = Annotated[str, secret(filled, "write the text that the other nodes have as well")]


class HmacKey(Table):
    """A key by which HMACs of segment lists are verified, with SHA-256."""

    number: KeyNumber = Field(alias="id")
    secret: KeyText = Field(alias="key", repr=False)
    form: Annotated[HmacForm, WORD] = Field(default=HmacForm.RFC_8754, alias="hmac_form")


@dataclass(frozen=True, slots=True)
class SrPolicy:
    """A list of segments in the order of travel, the source of its tunnels, and what proves it."""

    name: str
    source: IPv6Address
    segments: tuple[IPv6Address, ...]
    key_id: int = 0
    secret: str = field(default="", repr=False)
    form: HmacForm = HmacForm.RFC_8754


@dataclass(frozen=True, slots=True)
class IoamTrace:
    """A trace that packets get: room for data in words of 32 bits, or a wish for direct export."""

    name: str
    namespace: int
    type: int
    words: int = 0
    loopback: bool = False
    active: bool = False
    direct_export: bool = False
    flow: int = 0
    packets: int = 1
    of: int = 1

    @property
    def node_length(self) -> int:
        """Words that each node adds, without its snapshot."""
        return node_length(self.type)


class RplSourceRoute(Table):
    """The hops of an RPL source route, without the destination."""

    name: Name
    hops: Annotated[tuple[FarAddress, ...], count(1, MOST_HOPS)]

    @model_validator(mode="after")
    def _check(self) -> Self:
        if len(set(self.hops)) != len(self.hops):
            raise mistake("visit a hop twice", "name every hop once (RFC 6554 drops loops)", "hops")
        return self


@dataclass(frozen=True, slots=True)
class IoamNamespace:
    """What this node says of itself in the traces of a namespace, and on which ports."""

    number: int
    node: int
    node_wide: int
    data: int = 0
    data_wide: int = 0
    schema: int = NO_SCHEMA
    snapshot: int = 0
    ports: tuple[int, ...] = ()
    export: bool = False


@dataclass(frozen=True, slots=True)
class VrfRoute:
    """A route of a table that segments name: to a link, by a next hop, or nowhere."""

    table: int
    prefix: IPv6Network | IPv4Network
    vlan: int | None = None
    via: LinkAddress | None = None
    refusal: Refusal | None = None


@dataclass(frozen=True, slots=True)
class Encapsulation:
    """What the packets to a prefix carry; without anything named, nothing."""

    prefix: IPv6Network
    mode: Mode = Mode.AUTOMATIC
    policy: str = ""
    trace: str = ""
    source_route: str = ""
    source: IPv6Address | None = None
    to: IPv6Address | None = None
    locator: int | None = None
    neutral: bool = False


@dataclass(frozen=True)
class EncapsulationConfig:
    """All of it, checked against each other."""

    hmac_keys: tuple[HmacKey, ...] = ()
    segments: tuple[LocalSid, ...] = ()
    policies: tuple[SrPolicy, ...] = ()
    traces: tuple[IoamTrace, ...] = ()
    source_routes: tuple[RplSourceRoute, ...] = ()
    namespaces: tuple[IoamNamespace, ...] = ()
    table_routes: tuple[VrfRoute, ...] = ()
    encapsulations: tuple[Encapsulation, ...] = ()

    @cached_property
    def policy(self) -> Mapping[str, SrPolicy]:
        """Policies by name."""
        return {policy.name: policy for policy in self.policies}

    @cached_property
    def trace(self) -> Mapping[str, IoamTrace]:
        """Traces by name."""
        return {trace.name: trace for trace in self.traces}

    @cached_property
    def source_route(self) -> Mapping[str, RplSourceRoute]:
        """Source routes by name."""
        return {route.name: route for route in self.source_routes}

    @property
    def next_hops(self) -> Iterator[LinkAddress]:
        """Next hops that segments and their tables lead to."""
        yield from (segment.via for segment in self.segments if segment.via)
        yield from (route.via for route in self.table_routes if route.via)


def node_length(type_: int) -> int:
    """Return the words that a trace type asks each node for; three fields are two words long."""
    return (type_ & ~0b11).bit_count() + (type_ & _WIDE).bit_count()
