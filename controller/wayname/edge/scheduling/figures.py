"""Delays and bandwidths of paths as traces tell them (docs/ioam.md), for schedules whose `source` is IOAM.

A trace ends at the receiver, so what it tells of the way there is known to the peer's controller; whoever asks that
one may bring its figures here. Those of the way back are this controller's own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from wayname.config.schedules import Schedule, SchedulePath, Source
from wayname.edge.scheduling.schedules import Schedules
from wayname.ioam.collector import Collector
from wayname.ioam.figures import PathFigures, PathId

# How often figures are looked at, after how long they count no more, and how many entries are written a second.
LOOK = 0.5
STALE = 30.0
ENTRIES_A_SECOND = 2000
# What has changed by less is not worth a write.
LEAST_DELAY_CHANGE = 0.0005
DELAY_CHANGE = 0.05
BANDWIDTH_CHANGE = 0.1
# Packets that wait: of fewer the queue tells nothing of the link.
LEAST_QUEUE = 4.0
NANOSECONDS = 1e9


@dataclass(frozen=True, slots=True)
class Way:
    """A path that is measured."""

    rule: Schedule
    index: int
    trace: PathId

    @property
    def path(self) -> SchedulePath:
        """The path as it is configured."""
        return self.rule.paths[self.index]


class Figures:
    """Follows what traces tell of the paths of schedules."""

    def __init__(self, schedules: Schedules, collector: Collector) -> None:
        self._schedules = schedules
        self._collector = collector
        self._brought: dict[PathId, PathFigures] = {}
        rules = (rule.config for rule in schedules.rules.values() if rule.config.source is Source.IOAM)
        self._ways = [
            Way(rule, index, path.trace)
            for rule in rules
            for index, path in enumerate(rule.paths)
            if path.trace is not None
        ]
        self._due: float | None = None

    def start(self, now: float) -> None:
        """Look at figures from now on."""
        self._due = now + LOOK if self._ways else None

    def bring(self, paths: Iterable[PathFigures]) -> None:
        """Take what another controller knows; what it knew before is not new."""
        wanted = {way.trace for way in self._ways}
        for figures in paths:
            before = self._brought.get(figures.id)
            if figures.id in wanted and (before is None or before.count != figures.count):
                self._brought[figures.id] = figures

    def next_timer(self) -> float | None:
        """Return when `handle_timer` has to be called at the latest."""
        return self._due

    def handle_timer(self, now: float) -> None:
        """Have what is measured in the entries, as far as it has changed."""
        if self._due is None or now < self._due:
            return
        written = 0
        for way in self._ways:
            delay, bandwidth = way.path.delay, way.path.bandwidth
            if (figures := self._newest(way.trace, now)) is not None:
                delay = delay_of(figures)
                bandwidth = bandwidth_of(figures, way.rule.packet) or bandwidth
            written += self._write(way, delay, bandwidth)
        self._due = now + max(LOOK, written / ENTRIES_A_SECOND)

    def _newest(self, trace: PathId, now: float) -> PathFigures | None:
        """Return what is known of a path, if it is true today."""
        known = [each for each in (self._collector.path(trace), self._brought.get(trace)) if each and each.delay.count]
        newest = max(known, key=lambda figures: figures.last, default=None)
        return newest if newest is not None and now < newest.last + STALE else None

    def _write(self, way: Way, delay: float, bandwidth: float) -> int:
        """Have what has changed in the entries; return how many were written."""
        before = self._schedules.rules[way.rule.name].figures[way.index]
        kept_delay = abs(delay - before[0]) <= max(LEAST_DELAY_CHANGE, DELAY_CHANGE * before[0])
        kept_bandwidth = abs(bandwidth - before[1]) <= BANDWIDTH_CHANGE * before[1]
        if kept_delay and kept_bandwidth:
            return 0
        after = before[0] if kept_delay else delay, before[1] if kept_bandwidth else bandwidth
        return self._schedules.set_figures(way.rule.name, way.index, *after)


def delay_of(figures: PathFigures) -> float:
    """Return the delay without what packets wait in nodes, in seconds.

    Where its own packets wait the switch counts that itself. What was measured is an answer to what it did some time
    ago: to correct by that how long packets wait makes paths swing.
    """
    inside = figures.inside.smoothed if figures.inside.count else 0.0
    return max(figures.delay.smoothed - inside, 0.0) / NANOSECONDS


def bandwidth_of(figures: PathFigures, packet: int) -> float | None:
    """Return the bandwidth of the node where packets of so many octets wait longest, in bit/s."""
    waiting = (node for node in figures.nodes if node.queue.smoothed >= LEAST_QUEUE and node.delay.smoothed > 0)
    slowest = max(waiting, key=lambda node: node.delay.smoothed, default=None)
    if slowest is None:
        return None
    return slowest.queue.smoothed * packet * 8 / (slowest.delay.smoothed / NANOSECONDS)
