"""What a configuration says of schedules: which sessions go by several paths, and what is known of these."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv6Address, IPv6Network

from wayname.ioam.figures import PathId

# Of what each node writes into the trace of a probe: id and hop limit, seconds, fraction, delay, queue.
PROBED_WORDS = 5


class Policy(StrEnum):
    """How packets are shared out to paths."""

    FASTEST_FIRST = "fastest-first"
    WEIGHTED_ROUND_ROBIN = "weighted-round-robin"
    PER_FLOW = "per-flow"
    BEST_PATH = "best-path"


class Source(StrEnum):
    """Where delays and bandwidths come from, beside the configuration."""

    FIXED = "fixed"
    MARKS = "marks"
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


@dataclass(frozen=True, slots=True)
class Schedule:
    """Sessions between these prefixes, or any, go by these paths."""

    name: str
    paths: tuple[SchedulePath, ...]
    policy: Policy = Policy.FASTEST_FIRST
    local: tuple[IPv6Network, ...] = ()
    remote: tuple[IPv6Network, ...] = ()
    source: Source = Source.FIXED
    # Whether a path that is late or loses packets is closed.
    close: bool = True
    framing: int = 0
    # Octets of the packets that wait where traces tell of a queue.
    packet: int = 1500
    tolerance: float = 0.1
    probe_interval: float = 0.2
    # How long a sender does not hear that a packet is missing; 0: it does at once.
    hold: float = 0.0

    def fits(self, local: IPv6Address, peer: IPv6Address) -> bool:
        """Whether a session between two identities goes by it."""
        pairs = ((local, self.local), (peer, self.remote))
        return all(not prefixes or any(address in prefix for prefix in prefixes) for address, prefixes in pairs)
