"""Two edges with several paths between them and hosts behind them, on the virtual clock; no controller takes part."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from ipaddress import IPv6Interface
from typing import Any

import wayname_switch
from finsy import P4Schema
from finsy.proto import p4r

from bench.multipath import gateway, tables
from bench.multipath.path import Path, Route
from bench.multipath.segments import Watch, clamp
from wayname.pipeline.entries import Entity
from wayname.pipeline.program import P4INFO, PROGRAM
from wayname.wire.mac import Mac
from wayname_lab.model import Quality
from wayname_lab.planned import HostPlan
from wayname_lab.virtual.clock import SECOND, Clock
from wayname_lab.virtual.host import VirtualHost
from wayname_lab.virtual.link import Trace, VirtualLink
from wayname_lab.virtual.switch import VirtualSwitch

SIDES = SENDER, RECEIVER = 0, 1
MTU = 1500
# Of IPv6 and TCP without options.
HEADERS = 60
HostEvent = dict[str, Any]


@cache
def program() -> tuple[str, P4Schema]:
    """Return the pipeline's text and its schema."""
    return wayname_switch.device_config(str(PROGRAM), include=[str(PROGRAM.parents[1])]), P4Schema(P4INFO)


class HostLink(VirtualLink):
    """A host's own link, which takes no time; what passes is watched, and SYNs are clamped."""

    def __init__(
        self, clock: Clock, name: str, trace: Trace, watch: Watch, clamped: Callable[[bytes], bytes], router: Mac
    ) -> None:
        super().__init__(clock, name, Quality(), random.Random(0), trace)
        self._host = name
        self._watch = watch
        self._clamped = clamped
        self._router = router

    def send(self, sender: str, frame: bytes, at: int) -> None:
        """Take a frame of either end."""
        if sender == self._host:
            advertisement = gateway.answer(frame, self._router)
            if advertisement is not None:
                super().send("", advertisement, at)
                return
            self._watch.note_sent(frame)
            super().send(sender, self._clamped(frame), at)
        else:
            self._watch.note_arrived(frame)
            super().send(sender, frame, at)


class Network:
    """Pairs of hosts, one on each side; pair n is watched by `watches[n]` in the direction from sender to receiver."""

    def __init__(
        self,
        routes: Sequence[Route],
        packet_bytes: Sequence[int] = (1250,),
        seed: int = 1,
        hosts: bool = True,
        sack: bool = True,
    ) -> None:
        self.clock = Clock()
        self.trace = Trace()
        self.packet_bytes = packet_bytes  # of each pair's longest packets
        self._sack = sack
        self.watches = [Watch() for _ in packet_bytes]
        self.events: list[tuple[int, int, HostEvent]] = []  # side, host
        rng = random.Random(seed)
        self.paths = [
            Path(self.clock, f"path{number}", route, random.Random(rng.getrandbits(64)), self.trace)
            for number, route in enumerate(routes)
        ]
        self.switches = [self._switch(side) for side in SIDES]
        self.host_links = [[self._host_link(side, host) for host in range(len(packet_bytes))] for side in SIDES]
        self.hosts = (
            [[self._host(side, host, rng.getrandbits(32)) for host in range(len(packet_bytes))] for side in SIDES]
            if hosts
            else []
        )

    def add(self, side: int, entities: Iterable[Entity]) -> None:
        """Write entries into an edge's tables."""
        schema = self.switches[side].schema
        updates = [p4r.Update(type=p4r.Update.INSERT, entity=entity.encode(schema)) for entity in entities]
        answers = self.switches[side].write(p4r.WriteRequest(device_id=1, updates=updates).SerializeToString())
        refused = [text for code, text in answers if code != 0]
        if refused:
            raise ValueError(f"edge {side} refuses an entry: {refused[0]}")

    def command(self, side: int, host: int, command: str, **fields: object) -> int | None:
        """Let a host do something (docs/host.md)."""
        return self.hosts[side][host].command({"command": command, **fields})

    def events_of(self, side: int, host: int, kind: str) -> list[HostEvent]:
        """Return what a host told of one kind."""
        return [
            event for where, which, event in self.events if (where, which) == (side, host) and event["event"] == kind
        ]

    def run_until(self, seconds: float) -> None:
        """Let everything happen up to a time."""
        self.clock.run_until(round(seconds * SECOND))

    def _switch(self, side: int) -> VirtualSwitch:
        text, schema = program()
        switch = VirtualSwitch(self.clock, f"edge{side}", text, schema)
        for number, path in enumerate(self.paths):
            switch.connect(tables.path_port(number), path, Quality())
        switch.start()
        return switch

    @staticmethod
    def host_name(side: int, host: int) -> str:
        """Return how a host's link calls it."""
        return f"host{side}.{host}"

    def _host_link(self, side: int, host: int) -> HostLink:
        clamped = partial(clamp, most=self.packet_bytes[host] - HEADERS, sack=self._sack)
        router = tables.router_mac(side, tables.HOSTS_VLAN)
        link = HostLink(self.clock, self.host_name(side, host), self.trace, self.watches[host], clamped, router)
        self.switches[side].connect(host + 1, link, Quality())
        return link

    def _host(self, side: int, host: int, seed: int) -> VirtualHost:
        plan = HostPlan(
            self.host_name(side, host),
            self.switches[side].name,
            host + 1,
            tables.HOSTS_VLAN,
            str(tables.host_mac(side, host)),
            IPv6Interface((tables.host_address(side, host), 64)),
            tables.ROUTER,
            False,
            MTU,
        )

        def take(_name: str, event: HostEvent) -> None:
            self.events.append((side, host, event))

        return VirtualHost(self.clock, plan, self.host_links[side][host], seed, take)
