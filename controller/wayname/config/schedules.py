"""What a configuration says of schedules: which sessions go by several paths, and what is known of these."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from ipaddress import IPv6Address, IPv6Network
from typing import TYPE_CHECKING, Annotated, Self

from pydantic import Field, model_validator

from wayname.config.checks import FarAddress, Name, prefix
from wayname.config.encapsulation.traces import MOST_WORDS
from wayname.config.tables import WORD, Mistake, Site, Table, between, by, mistake, parsed, raise_all, twice
from wayname.config.units import BITS_A_SECOND, SECONDS, in_units
from wayname.ioam.path_metrics import PathId

if TYPE_CHECKING:
    from wayname.config.model import Config

LEAST_PATHS, MOST_PATHS = 2, 8
# The time of an octet has 32 bits of 2^-24 microseconds.
LEAST_BANDWIDTH, MOST_BANDWIDTH = 32_000, 100e9
MOST_SECONDS = 4000
MOST_FRAMING = 255
MOST_QUEUE = 1 << 30
# Of what each node writes into the trace of a probe: id and hop limit, seconds, fraction, delay, queue.
PROBED_WORDS = 5
Seconds = Annotated[float, in_units(SECONDS, "seconds"), between(0, MOST_SECONDS)]


class SchedulingPolicy(StrEnum):
    """How packets are shared out to paths."""

    FASTEST_FIRST = "fastest-first"
    WEIGHTED_ROUND_ROBIN = "weighted-round-robin"
    PER_FLOW = "per-flow"
    BEST_PATH = "best-path"
    REDUNDANT = "redundant"


# Those by which packets are numbered where edges agreed on it, and can go in several copies.
NUMBERING = SchedulingPolicy.FASTEST_FIRST, SchedulingPolicy.REDUNDANT


class Source(StrEnum):
    """Where delays and bandwidths come from, beside the configuration."""

    FIXED = "fixed"
    MARKS = "marks"
    FEEDBACK = "feedback"
    IOAM = "ioam"


@dataclass(frozen=True, slots=True)
class Probe:
    """How a path is measured from here: from an address of ours to a segment of the peer, and back to that address."""

    source: IPv6Address
    segment: IPv6Address
    trace: PathId  # of the way there


@dataclass(frozen=True, slots=True)
class SchedulePath:
    """A way to the peer: by a provider here, and there at a locator in a prefix, if that matters."""

    provider: str
    local: IPv6Network
    remote: IPv6Network | None
    bandwidth: float  # bits per second
    delay: float  # seconds, one way
    trace: PathId | None = None
    queue: int = 0  # octets that wait in it at most; 0: nobody knows
    probe: Probe | None = None

    @property
    def name(self) -> str:
        """How people call it."""
        return self.provider if self.remote is None else f"{self.provider} to {self.remote}"

    def fits(self, local: IPv6Address, peer: IPv6Address) -> bool:
        """Whether a pair of locators is this way."""
        return local in self.local and (self.remote is None or peer in self.remote)


class PathTable(Table):
    """`[[schedule.path]]` as it is written."""

    provider: str
    remote: Annotated[IPv6Network, prefix("2001:db8:2::/48")] | None = None
    bandwidth: Annotated[float, in_units(BITS_A_SECOND, "bit/s"), between(LEAST_BANDWIDTH, MOST_BANDWIDTH)]
    delay: Seconds
    trace: Annotated[PathId, parsed(PathId.parse, "write what `wayname ioam paths` has")] | None = None
    queue: Annotated[int, between(0, MOST_QUEUE)] = 0
    probe: FarAddress | None = None

    def resolved(self, site: Site) -> SchedulePath:
        """Return it with the prefix of its provider."""
        provider = next((each for each in site.config.providers if each.name == self.provider), None)
        if provider is None:
            known = ", ".join(each.name for each in site.config.providers) or "none"
            wrong = f"there is no [[provider]] {self.provider!r}"
            raise mistake(wrong, f"the providers are: {known}", "provider")
        figures = self.bandwidth, self.delay, self.trace, self.queue
        path = SchedulePath(self.provider, provider.prefix, self.remote, *figures)
        return path if self.probe is None else replace(path, probe=_probe(path, self.probe, site.config))


def _probe(path: SchedulePath, segment: IPv6Address, config: Config) -> Probe:
    """Return how a path is measured from here; what cannot work is refused."""
    if path.trace is None:
        mend = 'name its nodes as in trace = "1:a-b", this one first'
        raise mistake("comes back with a trace", mend, "probe")
    if path.remote is not None and segment not in path.remote:
        mend = "name a segment of the peer in that prefix"
        raise mistake(f"{segment} is not in {path.remote}", mend, "probe")
    addresses = (own.ip for each in config.interfaces for own in each.global_addresses if own.ip in path.local)
    source = next(addresses, None)
    if source is None:
        wrong = f"no interface has an address in {path.local}, where probes could come back to"
        raise mistake(wrong, f"give an interface one of provider {path.provider}", "probe")
    namespace = next((each for each in config.encapsulation.namespaces if each.number == path.trace.namespace), None)
    if namespace is None:
        mend = "add a [[namespace]] that says what this node writes in it"
        raise mistake(f"namespace {path.trace.namespace} is not there", mend, "trace")
    nodes, most = path.trace.nodes, MOST_WORDS // PROBED_WORDS
    if not 2 <= len(nodes) <= most or not path.trace.complete:
        mend = "name them all, the peer last"
        raise mistake(f"{path.trace} is no whole way of 2 to {most} nodes", mend, "trace")
    if nodes[0] != namespace.node:
        mend = "name the nodes in the order of travel"
        wrong = f"begins at node {nodes[0]:x}, and this node is {namespace.node:x} in namespace {namespace.number}"
        raise mistake(wrong, mend, "trace")
    return Probe(source, segment, path.trace)


def _in_any(address: IPv6Address, prefixes: tuple[IPv6Network, ...]) -> bool:
    return not prefixes or any(address in prefix for prefix in prefixes)


Prefix = Annotated[IPv6Network, prefix("2001:db8:1:10::/64")]


class Schedule(Table):
    """Sessions between these prefixes, or any, go by these paths."""

    name: Name
    paths: tuple[Annotated[SchedulePath, by(PathTable)], ...] = Field(default=(), alias="path")
    policy: Annotated[SchedulingPolicy, WORD] = SchedulingPolicy.FASTEST_FIRST
    local: tuple[Prefix, ...] = ()
    remote: tuple[Prefix, ...] = ()
    source: Annotated[Source, WORD] = Source.FIXED
    # Whether a path that is late or loses packets is closed.
    close: bool = True
    framing: Annotated[int, between(0, MOST_FRAMING)] = 0
    # Octets of the packets that wait where traces tell of a queue.
    packet: Annotated[int, between(40, 65_535)] = 1500
    tolerance: Seconds = 0.1
    probe_interval: Annotated[float, in_units(SECONDS, "seconds"), between(0.001, MOST_SECONDS)] = 0.2
    # Whether what a dead path holds goes by the others, where both edges can; packets then come in order.
    reinjection: bool = True
    # In how many copies each packet goes, by a path each, with policy redundant.
    copies: Annotated[int, between(LEAST_PATHS, MOST_PATHS)] = 2
    # How long a sender does not hear that a packet is missing; 0: it does at once.
    hold: Seconds = 0.0

    def fits(self, local: IPv6Address, peer: IPv6Address) -> bool:
        """Whether a session between two identities goes by it."""
        return self.fits_local(local) and _in_any(peer, self.remote)

    def fits_local(self, local: IPv6Address) -> bool:
        """Whether sessions of an identity may go by it."""
        return _in_any(local, self.local)

    @model_validator(mode="after")
    def _check(self) -> Self:
        raise_all(self._mistakes())
        return self

    def _mistakes(self) -> Iterator[Mistake]:
        ends = [(path.local, path.remote) for path in self.paths]
        for index, path in enumerate(self.paths):
            if ends[index] in ends[:index]:
                mend = "give every path once, or each a remote prefix"
                yield Mistake(("path", index, "provider"), f"{path.name} is there twice", mend)
            if path.trace is not None and self.source is not Source.IOAM:
                wrong = f"is read by nobody: source is {self.source.value!r}"
                yield Mistake(("path", index, "trace"), wrong, 'write source = "ioam"')
        if not LEAST_PATHS <= len(self.paths) <= MOST_PATHS:
            mend = f"write {LEAST_PATHS} to {MOST_PATHS} [[schedule.path]]"
            yield Mistake(("path",), f"there are {len(self.paths)}", mend)
        if self.policy is SchedulingPolicy.REDUNDANT and self.source is not Source.FEEDBACK:
            wrong = f"is 'redundant', and packets have no numbers: source is {self.source.value!r}"
            yield Mistake(("policy",), wrong, 'write source = "feedback", here and at the peer')
        if self.policy is SchedulingPolicy.REDUNDANT and self.copies > len(self.paths):
            yield Mistake(("copies",), f"is {self.copies}, and there are {len(self.paths)} paths", "write less")
        if self.source is Source.IOAM and all(path.trace is None for path in self.paths):
            yield Mistake(("source",), 'is "ioam", and no path has a trace', "name the traces of paths by trace")


def check_schedules(schedules: tuple[Schedule, ...], _site: Site) -> Iterator[Mistake]:
    """Yield what is wrong with all `[[schedule]]` beside each other; the first that fits a session counts."""
    yield from twice((each.name for each in schedules), "name", "give every schedule a name of its own")
