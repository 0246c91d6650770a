"""Reads labs from their TOML files; each mistake is one line: the file, the key, what is wrong, and how to mend it."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from importlib.resources import files
from ipaddress import IPv6Network
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from wayname.config.tables import (
    ConfigError,
    Mistake,
    Table,
    beneath,
    between,
    count,
    known_words,
    mistake,
    parsed,
    raise_all,
    read,
    reported,
)
from wayname.config.toml_text import TomlError, parse_toml
from wayname.config.units import BITS_A_SECOND, SECONDS, scaled
from wayname.hip.esp.suites import SuiteId
from wayname_lab.model import (
    Advertisement,
    Delegation,
    FlowKind,
    Host,
    Identity,
    Lab,
    LabHip,
    LabIlnp,
    LabShim6,
    Link,
    Quality,
    Router,
    TrafficFlow,
)

LABS = Path(str(files("wayname_lab") / "labs")).resolve()
DEFAULT_VLAN = 10
# Above are the VLANs of the links between routers; see plan.py.
HIGHEST_HOST_VLAN = 999
INSIDE_BITS = 48
# Names become parts of interface names, which Linux cuts at 15 bytes.
NAME = re.compile(r"[a-z][a-z0-9]{0,7}")
# Labs count in nanoseconds.
TIMES = {unit: round(seconds * 1e9) for unit, seconds in SECONDS.items()}
SUITES = {number.name.lower(): number for number in SuiteId}


class LabError(Exception):
    """What is wrong with a lab, each mistake in one line for the person who wrote it."""


def lab_names(folder: Path = LABS) -> list[str]:
    """Return the names of the labs that come along."""
    return sorted(path.stem for path in folder.glob("*.toml"))


def find_lab(name: str) -> Lab:
    """Load a lab by its name, or by the path of its file."""
    if name.endswith(".toml"):
        return load_lab(Path(name))
    if name not in lab_names():
        raise LabError(f"there is no lab '{name}': choose one of {', '.join(lab_names())}, or give a .toml file")
    return load_lab(LABS / f"{name}.toml")


def load_lab(path: Path) -> Lab:
    """Load a lab from its file."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise LabError(f"{path}: {error.strerror}; give the path of a lab's TOML file") from error
    except UnicodeDecodeError as error:
        raise LabError(f"{path}: is not UTF-8 text") from error
    return parse_lab(text, path.stem, str(path))


def parse_lab(text: str, name: str, source: str) -> Lab:
    """Make a lab of the text of its file; `source` is what errors call it."""
    try:
        written: LabTable = read(LabTable, parse_toml(text), source, "")
        with reported(source, ""):
            raise_all(written.mistakes())
            return written.lab(name)
    except TomlError as error:
        raise LabError(f"{source}: {error}") from error
    except ConfigError as error:
        raise LabError(str(error)) from error


def _name(name: str) -> str:
    if not NAME.fullmatch(name):
        raise mistake(f"{name!r} is no name", "write up to eight letters and digits, in lower case, a letter first")
    return name


def _inside(text: str) -> IPv6Network:
    inside = IPv6Network(text)
    if inside.prefixlen != INSIDE_BITS:
        raise ValueError(f"it is no /{INSIDE_BITS}, as providers give to sites")
    return inside


def _share(text: str) -> float:
    if not re.fullmatch(r"\d{1,3}(\.\d+)?%", text) or float(text[:-1]) > 100:
        raise ValueError("it is no percentage")
    return float(text[:-1]) / 100


def _scaled(units: Mapping[str, float], *words: str) -> BeforeValidator:
    """A number with a unit, such as 10ms, or a word."""

    def scale(text: str) -> int | str:
        if text in words:
            return text
        return round(scaled(text, units))

    return parsed(scale, f"write a number with one of the units {', '.join(units)}")


NodeName = Annotated[str, AfterValidator(_name)]
Duration = Annotated[int, _scaled(TIMES)]
Rate = Annotated[int, _scaled(BITS_A_SECOND)]
LinkRate = Annotated[int, _scaled(BITS_A_SECOND), between(1, 10**15)]
SendTimeout = Annotated[int | Literal["auto"], _scaled(TIMES, "auto")]
Octets = Annotated[int, between(0, 2**32 - 1)]
Ends = Annotated[tuple[str, ...], count(2, 2, ' routers, such as ["a", "p"]')]


class RouterTable(Table):
    """A router."""

    configuration: str = ""


class EdgeTable(RouterTable):
    """The edge of a site."""

    inside: Annotated[IPv6Network, parsed(_inside, "write a prefix such as fd12:3456:789a::/48")] | None = None
    hold: Duration | None = None
    track: str | None = None


class HostTable(Table):
    """A host."""

    edge: str
    vlan: Annotated[int, between(1, HIGHEST_HOST_VLAN)] = DEFAULT_VLAN
    autoconfigure: bool = False
    ilnp: bool = False
    identity: Identity = "configured"


class LinkTable(Table):
    """A link between two routers."""

    ends: Ends = Field(alias="between")
    rate: LinkRate | None = None
    delay: Duration = 0
    loss: Annotated[float, parsed(_share, "write a percentage such as 0.5%")] = 0.0
    queue: Annotated[int, between(1, 2**31)] | None = None

    def link(self) -> Link:
        """Return the link."""
        return Link(self.ends[0], self.ends[1], Quality(self.rate, self.delay, self.loss, self.queue))


class FlowTable(Table):
    """Traffic between two hosts."""

    kind: FlowKind
    source: str = Field(alias="from")
    destination: str = Field(alias="to")
    rate: Rate | None = None
    by: str | None = None


class AdvertisementTable(Table):
    """A prefix that a site hears of while it runs."""

    provider: str
    site: str = Field(alias="to")
    begin: Duration = 0
    end: Duration | None = None


class DelegationTable(Table):
    """A prefix that a site asks its provider for."""

    provider: str
    site: str = Field(alias="to")
    change: Duration | None = None


class SpokenTable(Table):
    """A protocol that edges speak for hosts."""

    send_timeout: SendTimeout | None = None
    bytes: Octets | None = None
    hold: bool | None = None


class Shim6Table(SpokenTable):
    """Shim6, which edges speak."""

    security: Literal["proved", "none"] = "proved"
    idle: Duration | None = None


class HipEdgesTable(SpokenTable):
    """HIP, which edges speak."""

    names: bool = False


class HipTable(Table):
    """HIP, which hosts speak."""

    suite: Annotated[SuiteId, known_words(SUITES)] = SuiteId.AES_128_CBC_HMAC_SHA_256
    rekey: Annotated[int, between(1, 2**64)] = LabHip().rekey
    edges: Literal["transparent", "verify"] | None = None
    send_timeout: Duration | None = None


class IlnpTable(Table):
    """ILNP, which edges or hosts speak."""

    bytes: Octets | None = None
    nonce: Literal["short", "long"] | None = None
    nonce_use: Literal["always", "at-first"] | None = None
    tcp: Literal["handshake", "request"] | None = None
    naive: bool = False
    idle: Duration | None = None
    capacity: int | None = None


class LabTable(Table):
    """A lab as it is written."""

    title: str
    edge: dict[NodeName, EdgeTable] = Field(default_factory=dict)
    provider: dict[NodeName, RouterTable] = Field(default_factory=dict)
    host: dict[NodeName, HostTable] = Field(default_factory=dict)
    link: tuple[LinkTable, ...] = ()
    flow: tuple[FlowTable, ...] = ()
    shim6: Shim6Table | None = None
    hip: HipTable | None = None
    ilnp: IlnpTable | None = None
    hip_edges: HipEdgesTable | None = None
    advertisement: tuple[AdvertisementTable, ...] = ()
    delegation: tuple[DelegationTable, ...] = ()

    @property
    def _sites(self) -> set[str]:
        """The edges that have hosts."""
        return {host.edge for host in self.host.values()} & set(self.edge)

    def mistakes(self) -> Iterator[Mistake]:
        """Yield what is wrong with its parts beside each other."""
        if not self.edge:
            yield Mistake(("edge",), "a lab has at least one edge", "write [edge.a]")
        for name, times in Counter([*self.edge, *self.provider, *self.host]).items():
            if times > 1:
                yield Mistake((), f"{name!r} names two nodes", "give each a name of its own")
        for name, host in self.host.items():
            yield from beneath(self._host_mistakes(host), "host", name)
        for name, edge in self.edge.items():
            if edge.track is not None and (edge.track == name or edge.track not in self._sites):
                known = ", ".join(sorted(self._sites - {name}))
                mend = f"name another edge with hosts; known are {known}"
                yield Mistake(("edge", name, "track"), f"is {edge.track!r}", mend)
        routers = [*self.edge, *self.provider]
        for index, link in enumerate(self.link):
            where = ("link", index, "between")
            for end in link.ends:
                if end not in routers:
                    yield Mistake(where, f"there is no edge or provider {end!r}", f"known are {', '.join(routers)}")
            if link.ends[0] == link.ends[1]:
                yield Mistake(where, f"has {link.ends[0]!r} twice", "a link has two different ends")
            if any({*link.ends} == {*other.ends} for other in self.link[:index]):
                yield Mistake(where, "there is another link between these two", "one is enough")
        for index, flow in enumerate(self.flow):
            yield from beneath(self._flow_mistakes(flow), "flow", index)
        if [self.shim6, self.hip, self.ilnp, self.hip_edges].count(None) < 3:
            yield Mistake((), "a lab has one of [shim6], [hip], [ilnp], [hip_edges]", "leave out the others")
        told: set[tuple[str, str]] = set()
        tables: dict[str, tuple[AdvertisementTable | DelegationTable, ...]] = {
            "advertisement": self.advertisement,
            "delegation": self.delegation,
        }
        for key, each in tables.items():
            for index, said in enumerate(each):
                yield from beneath(self._prefix_mistakes(said), key, index)
                if (said.provider, said.site) in told:
                    yield Mistake((key, index), "one is enough for a provider and a site", "leave it out")
                told.add((said.provider, said.site))

    def _host_mistakes(self, host: HostTable) -> Iterator[Mistake]:
        if host.edge not in self.edge:
            yield Mistake(("edge",), f"there is no edge {host.edge!r}", f"known are {', '.join(sorted(self.edge))}")
        if host.identity != "configured":
            if self.shim6 is None:
                yield Mistake(("identity",), "edges give identities where they speak Shim6", "add [shim6]")
            if any(self.host.get(flow.destination) is host for flow in self.flow):
                mend = "let flows begin at this host"
                yield Mistake(("identity",), "nobody knows it before the lab runs", mend)
        if host.autoconfigure and any((self.shim6, self.hip_edges, self.hip, self.ilnp)):
            mend = "leave it out"
            yield Mistake(("autoconfigure",), "hosts of multihomed sites have addresses that the lab gives them", mend)
        if self.ilnp is None and host.ilnp:
            yield Mistake(("ilnp",), "the lab has no [ilnp]", "write [ilnp] where hosts speak it")
        elif any(other.edge == host.edge and other.ilnp != host.ilnp for other in self.host.values()):
            mend = "either all hosts of an edge speak ILNP, or none of them does"
            yield Mistake(("ilnp",), "is not as that of another host here", mend)

    def _flow_mistakes(self, flow: FlowTable) -> Iterator[Mistake]:
        for key, name in (("from", flow.source), ("to", flow.destination)):
            if name not in self.host:
                yield Mistake((key,), f"there is no host {name!r}", f"known are {', '.join(sorted(self.host))}")
                return
        if flow.source == flow.destination:
            yield Mistake(("to",), f"is {flow.destination!r} as well", "a flow has two different ends")
        if flow.kind == "udp" and flow.rate is None:
            yield Mistake(("rate",), "is missing", 'a UDP stream has one, such as rate = "2mbit"')
        if flow.kind == "ping" and flow.rate is not None:
            yield Mistake(("rate",), "pings have none", "leave it out")
        here, there = self.host[flow.source].edge, self.host[flow.destination].edge
        inside = there in self.edge and self.edge[there].inside is not None
        if inside and flow.by is None and here != there:
            yield Mistake(("by",), "is missing", f"name the provider by whose address {there} is reached")
        if flow.by is not None and not (inside and any({*link.ends} == {there, flow.by} for link in self.link)):
            yield Mistake(("by",), f"gives {there} no address", "leave it out unless that edge has inside")

    def _prefix_mistakes(self, said: AdvertisementTable | DelegationTable) -> Iterator[Mistake]:
        site = said.site
        given_by = [end for link in self.link if site in link.ends for end in link.ends if end in self.provider]
        if said.provider not in given_by[1:]:
            mend = "name another of its providers"
            yield Mistake(("provider",), f"only the first provider of {site} is known beforehand", mend)
        if isinstance(said, DelegationTable):
            if self.shim6 is None and self.ilnp is None:
                yield Mistake((), "edges use it where they speak for hosts", "add [shim6] or [ilnp]")
            if self.ilnp is not None:
                return
        hosts = [host for host in self.host.values() if host.edge == site]
        if any(host.identity == "configured" for host in hosts) or len({host.vlan for host in hosts}) != 1:
            mend = 'give them identity = "leased" or "mapped"'
            yield Mistake(("to",), "it reaches hosts on one VLAN that have identities of their edge", mend)
        if isinstance(said, AdvertisementTable) and said.end is not None and said.end <= said.begin:
            yield Mistake(("end",), "it is not after the begin", "write a later time")

    def lab(self, name: str) -> Lab:
        """Return the lab."""
        edges = [
            Router(name, True, each.configuration, each.inside, each.hold, each.track)
            for name, each in self.edge.items()
        ]
        providers = [Router(name, False, each.configuration) for name, each in self.provider.items()]
        shim6, edges_hip = self.shim6, self.hip_edges
        return Lab(
            name,
            self.title,
            (*edges, *providers),
            tuple(Host(name=name, **dict(each)) for name, each in self.host.items()),
            tuple(
                Link(each.ends[0], each.ends[1], Quality(each.rate, each.delay, each.loss, each.queue))
                for each in self.link
            ),
            tuple(TrafficFlow(**dict(each)) for each in self.flow),
            LabShim6(*_watched(shim6), idle=shim6.idle, is_secure=shim6.security == "proved") if shim6 else None,
            LabHip(**dict(self.hip)) if self.hip else None,
            LabIlnp(**dict(self.ilnp)) if self.ilnp else None,
            LabShim6(*_watched(edges_hip), has_names=edges_hip.names) if edges_hip else None,
            tuple(Advertisement(**dict(each)) for each in self.advertisement),
            tuple(Delegation(**dict(each)) for each in self.delegation),
        )


def _watched(spoken: SpokenTable) -> tuple[int | Literal["auto"] | None, int | None, bool | None]:
    return spoken.send_timeout, spoken.bytes, spoken.hold
