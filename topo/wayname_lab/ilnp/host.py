"""A host that speaks ILNP: the stack of `wayname-host` above its end of ILNP, in process."""

import json
from ipaddress import IPv6Address

from wayname_host import Host

from wayname_lab.ilnp.end import IlnpEnd
from wayname_lab.planned import HostPlan

SECOND = 1e9


class IlnpHost:
    """Frames and commands in, frames and events out, as `wayname_host.Host` has it."""

    def __init__(self, *, mac: str, address: str, gateway: str, mtu: int, seed: int) -> None:
        self._stack = Host(mac=mac, addresses=[address], gateway=gateway, mtu=mtu, seed=seed)
        self._told: list[str] = []
        self._now = 0
        own = IPv6Address(address.partition("/")[0])
        self.end = IlnpEnd(own, seed, 0.0, self._is_connected, tell=self._tell)

    def receive(self, frame: bytes, now: int) -> None:
        """Take a frame from the link."""
        self._now = now
        self.end.from_link(frame, now / SECOND)

    def poll(self, now: int) -> list[bytes]:
        """Do everything that can be done now; return the frames that leave."""
        self._now = now
        due = self.end.next_timer()
        if due is not None and due <= now / SECOND:
            self.end.handle_timer(now / SECOND)
        leaving: list[bytes] = []
        while True:
            for frame in self._stack.poll(now):
                self.end.from_stack(frame, now / SECOND)
            to_stack, to_link = self.end.take()
            leaving += to_link
            for frame in to_stack:
                self._stack.receive(frame, now)
            if not to_stack:
                return leaving

    def next_wake(self, now: int) -> int | None:
        """Return when `poll` has something to do even if no frame comes."""
        due = self.end.next_timer()
        wakes = (self._stack.next_wake(now), None if due is None else int(due * SECOND) + 1)
        return min((wake for wake in wakes if wake is not None), default=None)

    def events(self) -> list[str]:
        """Take what happened since the last call, as JSON objects."""
        told, self._told = self._told, []
        return [*told, *self._stack.events()]

    def command(self, line: str) -> int | None:
        """Take a command as a JSON object; return the flow that it began."""
        return self._stack.command(line)

    def set_link(self, up: bool, now: int) -> None:
        """Say that the link came or went."""
        self._stack.set_link(up, now)

    def _is_connected(self, ports: tuple[int, int], peer: IPv6Address) -> bool:
        return self._stack.udp_is_connected(ports[0], peer, ports[1])

    def _tell(self, words: str) -> None:
        self._told.append(json.dumps({"event": "ilnp", "at_ns": self._now, "text": words}))


def make_ilnp_host(plan: HostPlan, seed: int) -> IlnpHost:
    """Return the host that a plan describes."""
    return IlnpHost(mac=plan.mac, address=str(plan.address), gateway=str(plan.gateway), mtu=plan.mtu, seed=seed)
