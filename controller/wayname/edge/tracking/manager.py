"""Tracks providers: probes their targets, and says which provider is down behind its next hop, and why.

A probe leaves by the provider's next hop, from an address in the provider's prefix that is drawn anew when the
controller begins. What comes to that address is metered apart, so that no flood of others takes an answer's place
(docs/punts.md). A provider is down as soon as too few of its targets are up, and up again when enough have been for a
quiet time.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from ipaddress import IPv6Address, IPv6Network

from wayname.config.model import Config, Provider
from wayname.config.track import Track
from wayname.edge.boundary import Json, Severity
from wayname.edge.links import ReceivedPacket
from wayname.edge.outputs import Outputs
from wayname.edge.provider_reachability import ProviderReachability
from wayname.edge.tracking.probes import new_probe
from wayname.edge.tracking.target import TrackedTarget
from wayname.pipeline import borders, entries
from wayname.timers import Timers
from wayname.wire.ipv6 import Packet

# A provider that was down when a controller ended is so when the next one begins.
UNREACHED = "provider-unreached"
IDENTIFIER_BITS = 64
# Of the time between probes.
LATE = 0.25


class _Clock(Enum):
    SEND = auto()
    LOSE = auto()
    QUIET = auto()


@dataclass(slots=True)
class TrackedProvider:
    """A provider, and what its targets say."""

    provider: Provider
    rules: Track
    source: IPv6Address
    targets: tuple[TrackedTarget, ...]
    is_up: bool = True
    # Of what came to the source and answered nothing that was asked.
    unexpected: int = 0

    @property
    def has_enough(self) -> bool:
        """Whether enough targets are up."""
        return sum(target.is_up for target in self.targets) >= self.rules.reliability

    @property
    def vlans(self) -> frozenset[int]:
        """The links by which answers come."""
        return frozenset(hop.vlan for hop, _ in self.provider.via)

    @property
    def complaint(self) -> str:
        """What is wrong with the targets that are down, in words."""
        return ", ".join(f"{each.target} {each.why}" for each in self.targets if not each.is_up)


class ProviderTracking:
    """Asks the targets of all providers that have some."""

    def __init__(
        self,
        config: Config,
        reachability: ProviderReachability,
        send: Callable[[Packet], None],
        outputs: Outputs,
        rng: random.Random,
        remembered: Mapping[str, Json],
        on_change: Callable[[float], None],
    ) -> None:
        self._reachability = reachability
        self._send = send
        self._outputs = outputs
        self._rng = rng
        self._on_change = on_change
        self._timers: Timers[tuple[_Clock, str, int]] = Timers()
        tracked = (self._tracked(provider, remembered) for provider in config.providers if provider.track is not None)
        self.providers = {each.provider.name: each for each in tracked}
        self._by_source = {each.source: each for each in self.providers.values()}
        for each in self.providers.values():
            for vlan in each.vlans:
                outputs.desired.put(entries.own_address(vlan, each.source))
            outputs.desired.put(entries.route_probe_source(each.source))
            if config.translations:
                outputs.desired.put(borders.stay_in_site(IPv6Network(each.source)))

    def _tracked(self, provider: Provider, remembered: Mapping[str, Json]) -> TrackedProvider:
        assert provider.track is not None
        is_up = f"{UNREACHED} {provider.name}" not in remembered
        targets = tuple(TrackedTarget(target, provider.track, is_up) for target in provider.track.targets)
        # The last /64: NPTv6 gives the last subnet to nobody (RFC 6296, section 3.4).
        subnet = int(provider.prefix.broadcast_address) >> IDENTIFIER_BITS << IDENTIFIER_BITS
        source = IPv6Address(subnet | self._rng.getrandbits(IDENTIFIER_BITS))
        tracked = TrackedProvider(provider, provider.track, source, targets, is_up)
        if not is_up:
            self._reachability.set_unreached(provider, tracked.complaint)
        return tracked

    def owns(self, vlan: int, address: IPv6Address) -> bool:
        """Whether an address on a link is one that probes come from."""
        tracked = self._by_source.get(address)
        return tracked is not None and vlan in tracked.vlans

    def start(self, now: float) -> None:
        """The switch is there: probe, each target at a time of its own."""
        for tracked, index, target in self._all():
            target.forget_waiting()
            self._timers.set(
                (_Clock.SEND, tracked.provider.name, index), now + self._rng.uniform(0, tracked.rules.interval)
            )

    def stop(self) -> None:
        """Nothing can be said of providers while the switch is away."""
        for tracked, index, target in self._all():
            target.forget_waiting()
            name = tracked.provider.name
            for clock in _Clock:
                self._timers.cancel((clock, name, index))

    def answered(self, arrival: ReceivedPacket, now: float) -> bool:
        """Take a packet to an address that probes come from; return whether it is to one."""
        tracked = self._by_source.get(arrival.packet.destination)
        if tracked is None:
            return False
        if arrival.interface.vlan in tracked.vlans:
            for index, target in enumerate(tracked.targets):
                answer = (
                    target.answered(arrival.packet, now) if target.target.address == arrival.packet.source else None
                )
                if answer is not None:
                    if answer.reply is not None:
                        self._send(answer.reply)
                    self._wait(tracked, index)
                    self._judge(tracked, now)
                    return True
        tracked.unexpected += 1
        return True

    def next_timer(self) -> float | None:
        """Return when `handle_timer` has to be called at the latest."""
        return self._timers.next()

    def handle_timer(self, now: float, late: float) -> None:
        """Count what was not answered, unless the turn is late and answers may wait to be looked at; probe again."""
        for clock, name, index in self._timers.due(now):
            tracked = self.providers[name]
            if clock is _Clock.QUIET:
                self._come_back(tracked, now)
                continue
            target = tracked.targets[index]
            if clock is _Clock.SEND:
                probe = new_probe(target.target, tracked.source, self._rng)
                self._send(probe.packet)
                target.sent(probe, now)
                self._timers.set((clock, name, index), now + tracked.rules.interval)
            elif late > tracked.rules.interval * LATE:
                target.forget_waiting()
            else:
                hop_is_up = self._reachability.has_next_hop(tracked.provider)
                target.lose_due(now, "" if hop_is_up else self._reachability.why_closed(tracked.provider))
                self._judge(tracked, now)
            self._wait(tracked, index)

    def _wait(self, tracked: TrackedProvider, index: int) -> None:
        key = _Clock.LOSE, tracked.provider.name, index
        due = tracked.targets[index].next_loss()
        if due is None:
            self._timers.cancel(key)
        elif self._timers.at(key) != due:
            self._timers.set(key, due)

    def _judge(self, tracked: TrackedProvider, now: float) -> None:
        quiet = _Clock.QUIET, tracked.provider.name, 0
        if tracked.is_up and not tracked.has_enough:
            self._fail(tracked, now)
        elif not tracked.is_up and not tracked.has_enough:
            self._timers.cancel(quiet)
        elif not tracked.is_up and self._timers.at(quiet) is None:
            self._timers.set(quiet, now + tracked.rules.quiet)

    def _fail(self, tracked: TrackedProvider, now: float) -> None:
        name, why = tracked.provider.name, tracked.complaint
        tracked.is_up = False
        self._reachability.set_unreached(tracked.provider, why)
        self._outputs.remember(f"{UNREACHED} {name}", True)
        text = f"provider {name} reaches too few targets: {why}"
        if self._reachability.is_last_resort:
            text += "; no provider reaches its targets, so all whose next hops answer are used"
        self._outputs.event(now, "track.down", name, text, Severity.WARNING)
        self._on_change(now)

    def _come_back(self, tracked: TrackedProvider, now: float) -> None:
        name = tracked.provider.name
        tracked.is_up = True
        self._reachability.set_reached(tracked.provider)
        self._outputs.remember(f"{UNREACHED} {name}", None)
        up = sum(target.is_up for target in tracked.targets)
        text = f"provider {name} is up: {up} of {len(tracked.targets)} targets for {tracked.rules.quiet:g} s"
        self._outputs.event(now, "track.up", name, text)
        self._on_change(now)

    def _all(self) -> Iterator[tuple[TrackedProvider, int, TrackedTarget]]:
        for tracked in self.providers.values():
            for index, target in enumerate(tracked.targets):
                yield tracked, index, target
