"""What packets carry: the tables that say so, and the clock that traces are written by."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from ipaddress import IPv6Address, IPv6Network

from wayname.config.encapsulation.model import EncapsulationConfig
from wayname.config.links import LinkAddress
from wayname.config.model import Config
from wayname.edge.boundary import DirectExport
from wayname.edge.encapsulation.clock import SwitchClock
from wayname.edge.encapsulation.next_hops import EncapsulationNextHops
from wayname.edge.encapsulation.segment_proofs import SegmentProofs
from wayname.edge.encapsulation.tables import EncapsulationTables
from wayname.edge.encapsulation.traces import TraceEnds
from wayname.edge.links import Links
from wayname.edge.outputs import Outputs
from wayname.edge.routes import Routes
from wayname.pipeline.entries import Entity
from wayname.wire import ipv6


class Encapsulation:
    """Composes what this folder does for the edge."""

    def __init__(
        self, config: Config, routes: Routes, provider_tables: Collection[int], links: Links, outputs: Outputs
    ) -> None:
        self._outputs = outputs
        self._routes = routes
        self._tables = EncapsulationTables(config, routes, provider_tables, outputs)
        self._clock = SwitchClock(config, outputs, self._tables.set_epoch)
        self._has_clock = False
        self.epoch = 0.0
        self.traces = TraceEnds(links, lambda: self.current)
        self.proofs = SegmentProofs(links, outputs)
        self.set(config.encapsulation, 0.0)

    @property
    def current(self) -> EncapsulationConfig:
        """What is wanted now."""
        return self._tables.current

    def trace_number(self, name: str) -> int:
        """Return the number on the switch of a trace that is wanted."""
        return self._tables.trace_number(name)

    def set(self, current: EncapsulationConfig, now: float) -> None:
        """Want what a configuration says, and nothing of what an earlier one said."""
        wants_clock = bool(current.namespaces)
        if wants_clock != self._has_clock:
            self._has_clock = wants_clock
            change = self._outputs.desired.put if wants_clock else self._outputs.desired.remove
            for entity in self._clock.entities():
                change(entity)
            self.start(now)
        self.proofs.set(current.hmac_keys)
        self._tables.set(current)
        self._ways = EncapsulationNextHops(current, self._tables.never_bound(), self._routes)

    def change(self, current: EncapsulationConfig, now: float) -> None:
        """Do as somebody wants it while we run, and say so."""
        self.set(current, now)
        counts = {
            "prefixes": len(current.encapsulations),
            "policies": len(current.policies),
            "segments": len(current.segments),
            "traces": len(current.traces),
        }
        text = ", ".join(f"{count} {what}" for what, count in counts.items())
        self._outputs.event(now, "encapsulation.changed", "encapsulation", f"what packets carry was changed: {text}")

    def is_segment(self, address: IPv6Address) -> bool:
        """Whether an address is a segment of this node."""
        return any(segment.prefix == IPv6Network(address) for segment in self.current.segments)

    def neighbours_for(self, packet: ipv6.Packet) -> list[LinkAddress]:
        """Return the neighbours that a packet may be passed to, with what it carries then."""
        return self._ways.neighbours_for(packet)

    def adopt(self, entities: Iterable[Entity], epoch: float) -> None:
        """The switch is there, with these entries; the epoch is when our own clock was 0, as POSIX."""
        self.epoch = epoch
        self._clock.adopt(entities, epoch)

    def start(self, now: float) -> None:
        """Ask for the switch's time, if anybody needs it."""
        if self._has_clock and self._outputs.connected:
            self._clock.start(now)
        else:
            self._clock.stop()

    def stop(self) -> None:
        """The switch is away."""
        self._clock.stop()

    def exported(self, export: DirectExport, now: float) -> None:
        """The switch tells of a packet that asks for it."""
        if not self._clock.answered(export, now):
            self.traces.collector.export(export, now)

    def next_timer(self) -> float | None:
        """Return when `handle_timer` has to be called at the latest."""
        return self._clock.next_timer()

    def handle_timer(self, now: float, late: float) -> None:
        """Do what is due."""
        self._clock.handle_timer(now)
