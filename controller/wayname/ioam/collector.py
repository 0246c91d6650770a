"""Collects what traces and direct exports tell: figures of each path and flow, and the last traces as they came.

What others may read: `path`, `paths`, `flows`, `records`. Everything is bounded; who was not seen longest gives way,
but for paths that somebody wants to have kept.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv6Address
from typing import Protocol

from wayname.ioam.nodes import NodeData, ids_of, nodes_of
from wayname.ioam.options import OVERFLOW, TraceOption
from wayname.ioam.path_metrics import FlowMetrics, PathId, PathMetrics

MOST_PATHS = 1024
MOST_FLOWS = 1024
MOST_RECORDS = 4096


class Export(Protocol):
    """What a node exported of a packet."""

    @property
    def namespace(self) -> int: ...
    @property
    def flow(self) -> int: ...
    @property
    def sequence(self) -> int: ...
    @property
    def node(self) -> int: ...
    @property
    def hop_limit(self) -> int: ...
    @property
    def ingress_port(self) -> int: ...
    @property
    def egress_port(self) -> int: ...
    @property
    def time(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Record:
    """A trace as it came, numbered from 1."""

    sequence: int
    time: float
    path: PathId
    source: IPv6Address
    destination: IPv6Address
    type: int
    flags: int
    nodes: tuple[NodeData, ...]


class Collector:
    """Takes decoded traces and exports, at the caller's time."""

    def __init__(self) -> None:
        self.forgotten_paths = 0
        self._paths: OrderedDict[PathId, PathMetrics] = OrderedDict()
        self._pinned: frozenset[PathId] = frozenset()
        self._flows: OrderedDict[tuple[int, int, int], FlowMetrics] = OrderedDict()
        self._records: deque[Record] = deque(maxlen=MOST_RECORDS)
        self._last = 0

    @property
    def last(self) -> int:
        """The number of the newest record; 0 before the first."""
        return self._last

    def keep(self, ids: Iterable[PathId]) -> None:
        """Forget these paths never: somebody goes by their figures, and anybody can send traces of others."""
        self._pinned = frozenset(ids)

    def paths(self) -> list[PathMetrics]:
        """Return the figures of all paths that are known."""
        return sorted(self._paths.values(), key=lambda figures: figures.id)

    def path(self, id: PathId) -> PathMetrics | None:
        """Return the figures of a path."""
        return self._paths.get(id)

    def flows(self) -> list[FlowMetrics]:
        """Return the figures of all flows of direct exports."""
        return [figures for _, figures in sorted(self._flows.items())]

    def records(self, since: int = 0) -> list[Record]:
        """Return the records behind a number that are still kept."""
        return [record for record in self._records if record.sequence > since]

    def trace(self, option: TraceOption, source: IPv6Address, destination: IPv6Address, now: float) -> Record:
        """Take a trace that came with a packet; raise `DecodeError` for one that makes no sense."""
        nodes = nodes_of(option)
        id = PathId(option.namespace, tuple(ids_of(nodes)), not option.flags & OVERFLOW)
        figures = self._paths.get(id)
        if figures is None:
            figures = self._paths[id] = PathMetrics.of(id, now)
            if len(self._paths) > MOST_PATHS:
                del self._paths[next(oldest for oldest in self._paths if oldest not in self._pinned)]
                self.forgotten_paths += 1
        self._paths.move_to_end(id)
        figures.take(nodes, now)
        self._last += 1
        record = Record(self._last, now, id, source, destination, option.type, option.flags, tuple(nodes))
        self._records.append(record)
        return record

    def export(self, export: Export, now: float) -> None:
        """Take what a node exported."""
        key = (export.namespace, export.flow, export.node)
        figures = self._flows.get(key)
        if figures is None:
            figures = self._flows[key] = FlowMetrics(*key, now, now)
            if len(self._flows) > MOST_FLOWS:
                self._flows.popitem(last=False)
        self._flows.move_to_end(key)
        figures.last, figures.time, figures.hop_limit = now, export.time, export.hop_limit
        figures.ingress, figures.egress = export.ingress_port, export.egress_port
        figures.add(export.sequence)
