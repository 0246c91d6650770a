"""Delays and bandwidths of paths as traces tell them (docs/ioam.md), for schedules whose `source` is IOAM.

Of a path with a `probe` this edge finds out itself. Of others the traces end somewhere else: whoever asks the peer's
controller may bring what that one knows, and those of the way back are this controller's own.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from wayname.config.schedules import Probe, Schedule, SchedulePath, Source
from wayname.edge.boundary import Severity
from wayname.edge.outputs import Outputs
from wayname.ioam.collector import Collector
from wayname.ioam.path_metrics import PathId, PathMetrics
from wayname.ioam.round_trips import RoundTrips, clock_difference
from wayname.session.scheduling.probes import STALE, Probes
from wayname.session.scheduling.schedules import Schedules
from wayname.timers import earliest
from wayname.wire import ipv6

# How often figures are looked at.
LOOK = 0.5
# What has changed by less is not worth a write.
LEAST_DELAY_CHANGE = 0.0005
DELAY_CHANGE = 0.05
BANDWIDTH_CHANGE = 0.1
# A queue is told in packets, among which are shorter ones: a bandwidth that is as configured but for this factor is so.
BANDWIDTH_ERROR = 1.3
# Packets that wait: of fewer the queue tells nothing of the link.
LEAST_QUEUE = 4.0
NANOSECONDS = 1e9


class EstimateOrigin(StrEnum):
    """Who told of a path last."""

    CONFIGURATION = "configuration"
    PROBES = "probes"
    TRACES = "traces"
    BROUGHT = "brought"


@dataclass(frozen=True, slots=True)
class MeasuredPath:
    """A path that is measured."""

    rule: Schedule
    index: int
    trace: PathId

    @property
    def path(self) -> SchedulePath:
        """The path as it is configured."""
        return self.rule.paths[self.index]


@dataclass(frozen=True, slots=True)
class PathEstimate:
    """What is known of a path: delay in seconds, bandwidth in bit/s if not as configured, by whom, when."""

    delay: float
    bandwidth: float | None
    origin: EstimateOrigin
    at: float


class PathEstimates:
    """Follows what traces tell of the paths of schedules."""

    def __init__(
        self,
        schedules: Schedules,
        collector: Collector,
        vlans: Iterable[int],
        device_id: int,
        outputs: Outputs,
        rng: random.Random,
    ) -> None:
        self._schedules = schedules
        self._collector = collector
        self._outputs = outputs
        self._brought: dict[PathId, PathMetrics] = {}
        rules = (rule.config for rule in schedules.rules.values() if rule.config.source is Source.IOAM)
        self._ways = [
            MeasuredPath(rule, index, path.trace)
            for rule in rules
            for index, path in enumerate(rule.paths)
            if path.trace is not None
        ]
        collector.keep(way.trace for way in self._ways)
        bandwidths = {way.path.probe: way.path.bandwidth for way in self._ways if way.path.probe}
        self.probes = Probes(bandwidths, vlans, device_id, outputs, rng)
        self._told: dict[tuple[str, int], PathEstimate] = {}
        # Since when each way waits to be told of; of those that are not here, somebody was told.
        self._waits: dict[tuple[str, int], float] = {}
        self._due: float | None = None

    def start(self, now: float) -> None:
        """The switch is there: probe, and look at figures from now on."""
        self._due = now + LOOK if self._ways else None
        self._waits = {_key(way): now for way in self._ways if _key(way) not in self._told}
        self.probes.start(now)

    def stop(self) -> None:
        """The switch is away: nothing can be sent."""
        self.probes.stop()

    def bring(self, paths: Iterable[PathMetrics]) -> None:
        """Take what another controller knows; what it knew before is not new."""
        wanted = {way.trace for way in self._ways}
        for figures in paths:
            before = self._brought.get(figures.id)
            if figures.id in wanted and (before is None or before.count != figures.count):
                self._brought[figures.id] = figures

    def returned(self, packet: ipv6.Packet, now: float) -> bool:
        """Whether a packet to the router is a probe that comes back; then it is taken."""
        return self.probes.returned(packet, now)

    def told(self, schedule: str, index: int) -> PathEstimate | None:
        """Return what a path is measured by; None while the configuration counts."""
        return self._told.get((schedule, index))

    def next_timer(self) -> float | None:
        """Return when `handle_timer` has to be called at the latest."""
        return earliest((self._due, self.probes.next_timer()))

    def handle_timer(self, now: float, late: float) -> None:
        """Send probes that are due, and have what is measured in the entries, as far as it has changed."""
        self.probes.handle_timer(now)
        if self._due is None or now < self._due:
            return
        probed = self._probed(now)
        for way in self._ways:
            delay, bandwidth = way.path.delay, way.path.bandwidth
            told = self._newest(way, probed, now)
            if told is not None:
                delay = told.delay
                bandwidth = told.bandwidth or bandwidth
            self._note(way, told, now)
            # As long as nothing came yet, what an earlier controller found out may still be true.
            if told is not None or _key(way) not in self._waits:
                self._write(way, delay, bandwidth)
        self._due = now + LOOK

    def _probed(self, now: float) -> dict[Probe, tuple[RoundTrips, float | None]]:
        """Return what came back of each way, and by how much the clock at its far end is ahead."""
        ends: defaultdict[tuple[int, int], dict[Probe, RoundTrips]] = defaultdict(dict)
        for probe, trips in self.probes.trips(now):
            ends[probe.trace.namespace, probe.trace.nodes[-1]][probe] = trips
        return {
            probe: (trips, difference)
            for ways in ends.values()
            for difference in [clock_difference(list(ways.values()))]
            for probe, trips in ways.items()
        }

    def _newest(
        self, way: MeasuredPath, probed: dict[Probe, tuple[RoundTrips, float | None]], now: float
    ) -> PathEstimate | None:
        """Return what is known of a path, if it is still true."""
        known: list[PathEstimate] = []
        if way.path.probe in probed:
            trips, difference = probed[way.path.probe]
            bandwidth = _bandwidth(trips.there, way)
            known.append(
                PathEstimate(trips.delay(difference) / NANOSECONDS, bandwidth, EstimateOrigin.PROBES, trips.there.last)
            )
        # Traces that anybody may have sent are not believed where there are probes of our own.
        seen = None if way.path.probe else self._collector.path(way.trace)
        for figures, origin in ((seen, EstimateOrigin.TRACES), (self._brought.get(way.trace), EstimateOrigin.BROUGHT)):
            if figures is not None and figures.delay.count and now < figures.last + STALE:
                known.append(PathEstimate(delay_of(figures), _bandwidth(figures, way), origin, figures.last))
        return max(known, key=lambda told: told.at, default=None)

    def _note(self, way: MeasuredPath, told: PathEstimate | None, now: float) -> None:
        """Know by whom a path is measured, and say it when that begins, and when nobody told of it for long."""
        key, path = _key(way), f"schedule {way.rule.name}: path {way.path.name}"
        before = self._told.get(key)
        if told is not None:
            self._told[key] = told
            self._waits.pop(key, None)
            if before is None or before.origin is not told.origin:
                text = f"{path} is as {told.origin} of {way.trace} tell"
                self._outputs.event(now, "path.measured", way.rule.name, text)
        elif before is not None or now >= self._waits.get(key, now) + STALE:
            self._told.pop(key, None)
            self._waits.pop(key, None)
            text = f"{path} is as configured, nothing was told of it for {STALE:g} s: {self.missing(way.path)}"
            self._outputs.event(now, "path.unmeasured", way.rule.name, text, Severity.WARNING)

    def missing(self, path: SchedulePath) -> str:
        """Return why nothing is known of a path, or nothing yet."""
        if path.probe is None:
            return f"no trace {path.trace} ended here, and nobody brought its figures"
        answers = self.probes.answers[path.probe]
        if answers.elsewhere is not None:
            return f"probes to {path.probe.segment} went by {answers.elsewhere}, not by {path.trace}"
        return f"probes to {path.probe.segment}: {answers.sent} sent, {answers.came} came back"

    def _write(self, way: MeasuredPath, delay: float, bandwidth: float) -> None:
        """Have what has changed in the entries."""
        before = self._schedules.rules[way.rule.name].figures[way.index]
        same_delay = abs(delay - before[0]) <= max(LEAST_DELAY_CHANGE, DELAY_CHANGE * before[0])
        same_bandwidth = abs(bandwidth - before[1]) <= BANDWIDTH_CHANGE * before[1]
        if same_delay and same_bandwidth:
            return
        after = before[0] if same_delay else delay, before[1] if same_bandwidth else bandwidth
        self._schedules.set_figures(way.rule.name, way.index, *after)


def _key(way: MeasuredPath) -> tuple[str, int]:
    return way.rule.name, way.index


def _bandwidth(figures: PathMetrics, way: MeasuredPath) -> float | None:
    """Return what traces tell of a path's bandwidth, if it is something else than its configuration says."""
    told, configured = bandwidth_of(figures, way.rule.packet), way.path.bandwidth
    if told is None or configured / BANDWIDTH_ERROR <= told <= configured * BANDWIDTH_ERROR:
        return None
    return told


def delay_of(figures: PathMetrics) -> float:
    """Return the delay without what packets wait in nodes, in seconds.

    Where its own packets wait the switch counts that itself. What was measured is an answer to what it did some time
    ago: to correct by that how long packets wait makes paths swing.
    """
    inside = figures.inside.smoothed if figures.inside.count else 0.0
    return max(figures.delay.smoothed - inside, 0.0) / NANOSECONDS


def bandwidth_of(figures: PathMetrics, packet: int) -> float | None:
    """Return the bandwidth of the node where packets of so many octets wait longest, in bit/s."""
    waiting = (node for node in figures.nodes if node.queue.smoothed >= LEAST_QUEUE and node.delay.smoothed > 0)
    slowest = max(waiting, key=lambda node: node.delay.smoothed, default=None)
    if slowest is None:
        return None
    return slowest.queue.smoothed * packet * 8 / (slowest.delay.smoothed / NANOSECONDS)
