"""Figures of what passes: of a path, of a node on it, of a flow of direct exports.

Delays are in nanoseconds, times in seconds of the caller's clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from wayname.ioam.nodes import NodeData

_WEIGHT = 1 / 8  # of a new value in the smoothed one
_JITTER_WEIGHT = 1 / 16  # RFC 3550, section 6.4.1
_MOST_DISORDER = 1_000_000 * 3600  # microseconds: clocks that are farther apart tell no delay
_WRAP = 1 << 32
# So far behind the newest one a sequence number is a new start, as after a restart of who numbers.
_LATEST = 1 << 12


@dataclass(slots=True)
class Summary:
    """A value that was seen again and again."""

    count: int = 0
    last: int = 0
    least: int = 0
    most: int = 0
    smoothed: float = 0.0

    def add(self, value: int) -> None:
        """Take a value."""
        self.least = min(self.least, value) if self.count else value
        self.most = max(self.most, value) if self.count else value
        self.smoothed = self.smoothed + (value - self.smoothed) * _WEIGHT if self.count else value
        self.last = value
        self.count += 1


@dataclass(frozen=True, slots=True, order=True)
class PathId:
    """The nodes that packets passed, in order, in a namespace; not complete where a trace had no more room."""

    namespace: int
    nodes: tuple[int, ...]
    complete: bool = True

    @classmethod
    def parse(cls, text: str) -> PathId:
        """Read what `str` writes; raise `ValueError` for anything else."""
        namespace, colon, nodes = text.removesuffix("-...").partition(":")
        if not colon:
            raise ValueError("it has no namespace")
        return cls(int(namespace), tuple(int(node, 16) for node in nodes.split("-")), not text.endswith("-..."))

    def __str__(self) -> str:
        return f"{self.namespace}:{'-'.join(f'{node:x}' for node in self.nodes)}{'' if self.complete else '-...'}"


@dataclass(slots=True)
class NodeMetrics:
    """A node on a path: how long packets stay in it, and how many wait in it."""

    node: int
    delay: Summary = field(default_factory=Summary)
    queue: Summary = field(default_factory=Summary)
    ingress: int | None = None
    egress: int | None = None


@dataclass(slots=True)
class PathMetrics:
    """A path, from its first node to its last one.

    `delay` is from arrival at the first node until arrival at the last one: as right as the clocks of these two agree.
    `jitter` is how much it changes from packet to packet, which does not depend on the clocks. `inside` is what packets
    spend in the nodes altogether, and `queue` the longest queue that they met.
    """

    id: PathId
    first: float
    last: float
    count: int = 0
    delay: Summary = field(default_factory=Summary)
    jitter: float = 0.0
    inside: Summary = field(default_factory=Summary)
    queue: Summary = field(default_factory=Summary)
    nodes: list[NodeMetrics] = field(default_factory=list)

    @classmethod
    def of(cls, id: PathId, now: float) -> PathMetrics:
        """Return those of a path of which nothing is known yet."""
        return cls(id, now, now, nodes=[NodeMetrics(node) for node in id.nodes])

    def take(self, nodes: Sequence[NodeData], now: float) -> None:
        """Take what the path's nodes wrote into a trace."""
        self.count += 1
        self.last = now
        for known, node in zip(self.nodes, nodes, strict=True):
            known.ingress, known.egress = node.ingress, node.egress
            if node.delay is not None:
                known.delay.add(node.delay)
            if node.queue is not None:
                known.queue.add(node.queue)
        times = [node.time for node in nodes]
        if len(times) > 1 and times[0] is not None and times[-1] is not None:
            delay = times[-1] - times[0]
            if abs(delay) < _MOST_DISORDER:
                self._add_delay(delay * 1000)
        delays = [node.delay for node in nodes if node.delay is not None]
        if nodes and len(delays) == len(nodes):
            self.inside.add(sum(delays))
        queues = [node.queue for node in nodes if node.queue is not None]
        if queues:
            self.queue.add(max(queues))

    def _add_delay(self, delay: int) -> None:
        if self.delay.count:
            self.jitter += (abs(delay - self.delay.last) - self.jitter) * _JITTER_WEIGHT
        self.delay.add(delay)


@dataclass(slots=True)
class FlowMetrics:
    """Packets of a flow that asked for direct export, as one node saw them; what is missing was lost on the way to it.

    A packet that comes late is no loss any more. What is lost after the last one that was seen is not known yet, and an
    export that the switch left out for its rate counts as lost.
    """

    namespace: int
    flow: int
    node: int
    first: float
    last: float
    seen: int = 0
    expected: int = 0
    time: int = 0
    hop_limit: int = 0
    ingress: int = 0
    egress: int = 0
    restarts: int = 0
    _before: int = 0  # seen and expected before the last restart
    _expected_before: int = 0
    _lowest: int = 0
    _highest: int = 0

    @property
    def lost(self) -> int:
        """Packets that are missing."""
        return max(0, self.expected - self.seen)

    def add(self, sequence: int) -> None:
        """Take a packet's number."""
        if self.seen == self._before:
            self._lowest = self._highest = sequence
        ahead = (sequence - self._highest) % _WRAP
        if ahead < _WRAP // 2:
            self._highest += ahead
        elif _WRAP - ahead > _LATEST:
            self._before, self._expected_before = self.seen, self.expected
            self._lowest = self._highest = sequence
            self.restarts += 1
        else:
            self._lowest = min(self._lowest, self._highest - (_WRAP - ahead))
        self.seen += 1
        self.expected = self._expected_before + self._highest - self._lowest + 1
