"""A host on the virtual clock: the stack of `wayname-host`, with the lab's clock in its hand."""

import json
from collections.abc import Callable
from typing import Any

from wayname_host import Host

from wayname_lab.plan import HostPlan
from wayname_lab.virtual.clock import Alarm, Clock
from wayname_lab.virtual.link import VirtualLink


class VirtualHost:
    """A host at the end of its link."""

    def __init__(
        self, clock: Clock, plan: HostPlan, link: VirtualLink, seed: int, take: Callable[[str, dict[str, Any]], None]
    ) -> None:
        self.plan = plan
        self._clock = clock
        self._link = link
        self._take = take
        if plan.autoconfigure:
            self._host = Host(mac=plan.mac, seed=seed)
        else:
            addresses, gateway = [str(plan.address)], str(plan.gateway)
            self._host = Host(mac=plan.mac, addresses=addresses, gateway=gateway, mtu=plan.mtu, seed=seed)
        self._wake = Alarm(clock, self._poll)
        link.connect(plan.name, self._receive)
        self._poll()

    def command(self, command: dict[str, Any]) -> int | None:
        """Let the host do something, docs/host.md says what; return the flow that this began."""
        flow = self._host.command(json.dumps(command))
        self._poll()
        return flow

    def _receive(self, frame: bytes) -> None:
        self._host.receive(frame, self._clock.now)
        self._poll()

    def _poll(self) -> None:
        for frame in self._host.poll(self._clock.now):
            self._link.send(self.plan.name, frame, self._clock.now)
        for event in self._host.events():
            self._take(self.plan.name, json.loads(event))
        self._wake.set(self._host.next_wake(self._clock.now))
