"""A host on the virtual clock: the stack of `wayname-host`, with the lab's clock in its hand."""

import json
from collections.abc import Callable
from typing import Any

from wayname_host import Host

from wayname_lab.hip.host import HipHost
from wayname_lab.hip.make import make_hip_host
from wayname_lab.host_process import DrivenHost
from wayname_lab.ilnp.host import IlnpHost, make_ilnp_host
from wayname_lab.plan import described_hip_host
from wayname_lab.planned import HostPlan
from wayname_lab.virtual.clock import Alarm, Clock
from wayname_lab.virtual.link import VirtualLink

Take = Callable[[str, dict[str, Any]], None]


class VirtualNode:
    """Whatever is driven at the end of its link."""

    def __init__(self, clock: Clock, name: str, stack: DrivenHost, link: VirtualLink, take: Take) -> None:
        self.stack = stack  # whoever puts another one here wakes it by a command
        self._name = name
        self._clock = clock
        self._link = link
        self._take = take
        self._wake = Alarm(clock, self._poll)
        link.connect(name, self._receive)
        self._poll()

    def command(self, command: dict[str, Any]) -> int | None:
        """Let the host do something, docs/host.md says what; return the flow that this began."""
        flow = self.stack.command(json.dumps(command))
        self._poll()
        return flow

    def _receive(self, frame: bytes) -> None:
        self.stack.receive(frame, self._clock.now)
        self._poll()

    def _poll(self) -> None:
        for frame in self.stack.poll(self._clock.now):
            self._link.send(self._name, frame, self._clock.now)
        for event in self.stack.events():
            self._take(self._name, json.loads(event))
        self._wake.set(self.stack.next_wake(self._clock.now))


class VirtualHost(VirtualNode):
    """A host at the end of its link."""

    def __init__(self, clock: Clock, plan: HostPlan, link: VirtualLink, seed: int, take: Take) -> None:
        self.plan = plan
        super().__init__(clock, plan.name, _stack(plan, seed), link, take)


def _stack(plan: HostPlan, seed: int) -> Host | HipHost | IlnpHost:
    if (described := described_hip_host(plan, seed)) is not None:
        return make_hip_host(described)
    if plan.ilnp:
        return make_ilnp_host(plan, seed)
    if plan.autoconfigure:
        return Host(mac=plan.mac, mtu=plan.mtu, seed=seed)
    return Host(mac=plan.mac, addresses=[str(plan.address)], gateway=str(plan.gateway), mtu=plan.mtu, seed=seed)
