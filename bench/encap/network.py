"""Namespaces for whoever forwards: traffic stays in them, and they are gone when the block ends.

outer namespace              a candidate's namespace        outer namespace
generator -- in-NAME ======= west -- NAME -- east ========= out-NAME -- counter
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bench.encap.points import OUT_PORT, Point
from harness.switches import NotHereError, NotStartedError, command
from small_site import PROVIDER, ROUTER

SEGMENTS_PREFIX = "fd00::/16"
SEGMENTS_SOURCE = "fd00:5::1"
NEXT_HOP = "fe80::a1"


@dataclass(frozen=True, slots=True)
class Road:
    """A candidate's interfaces, and the words that run a command among them."""

    name: str
    namespace: str

    @property
    def prefix(self) -> list[str]:
        """Before every command that shall see `west` and `east`."""
        return ["ip", "netns", "exec", self.namespace]


@dataclass(slots=True)
class Network:
    """The outer namespace and the roads that begin and end in it."""

    outer: str
    inner: list[str]

    @property
    def prefix(self) -> list[str]:
        """Before a command that sends and counts."""
        return ["ip", "netns", "exec", self.outer]

    def road(self, name: str) -> Road:
        """A new road."""
        namespace = f"{self.outer}-{name}"
        command(["ip", "netns", "add", namespace])
        self.inner.append(namespace)
        _silence(namespace)
        command(["ip", "-n", namespace, "link", "set", "lo", "up"])
        for outside, inside, mac in ((f"in-{name}", "west", ROUTER[1]), (f"out-{name}", "east", ROUTER[100])):
            peer = ["peer", "name", inside, "address", mac, "netns", namespace]
            command(["ip", "-n", self.outer, "link", "add", outside, "type", "veth", *peer])
            command(["ip", "-n", self.outer, "link", "set", outside, "up"])
            command(["ip", "-n", namespace, "link", "set", inside, "up"])
        return Road(name, namespace)

    def plain(self) -> None:
        """One pair with nobody between: what generator and counter take themselves."""
        command(["ip", "-n", self.outer, "link", "add", "in-plain", "type", "veth", "peer", "name", "out-plain"])
        for end in ("in-plain", "out-plain"):
            command(["ip", "-n", self.outer, "link", "set", end, "up"])


@contextlib.contextmanager
def network() -> Iterator[Network]:
    """A network without roads."""
    if os.geteuid() != 0:
        raise NotHereError("network namespaces need root")
    made = Network(f"wayname-bench-{os.getpid()}", [])
    try:
        command(["ip", "netns", "add", made.outer])
    except (NotStartedError, FileNotFoundError) as error:
        raise NotHereError(f"no network namespaces here: {error}") from None
    try:
        _silence(made.outer)
        yield made
    finally:
        for namespace in (*made.inner, made.outer):
            command(["ip", "netns", "delete", namespace])


def _silence(namespace: str) -> None:
    """The kernel's own IPv6 would spend time on packets that others forward."""
    _set(namespace, "conf.all.disable_ipv6=1")
    _set(namespace, "conf.default.disable_ipv6=1")


def _set(namespace: str, setting: str) -> None:
    command(["ip", "netns", "exec", namespace, "sysctl", "-q", "-w", f"net.ipv6.{setting}"])


def kernel_forwards(road: Road, points: Sequence[Point]) -> None:
    """Have the kernel of a road do with these points' packets what the switch does."""
    for name in ("all", "west", "east"):
        _set(road.namespace, f"conf.{name}.disable_ipv6=0")
    _set(road.namespace, "conf.all.forwarding=1")
    ip = ["ip", "-n", road.namespace, "-6"]
    command([*ip, "address", "add", "fe80::1/64", "dev", "east", "nodad"])
    command([*ip, "address", "add", "2001:db8:a::2/128", "dev", "east", "nodad"])
    command([*ip, "neighbour", "add", NEXT_HOP, "lladdr", PROVIDER[OUT_PORT], "dev", "east", "nud", "permanent"])
    command(["ip", "-n", road.namespace, "sr", "tunsrc", "set", SEGMENTS_SOURCE])
    out = ["via", NEXT_HOP, "dev", "east"]
    command([*ip, "route", "add", SEGMENTS_PREFIX, *out])
    for point in points:
        carried = []
        if point.mode:
            if point.mode.kernel is None:
                raise ValueError(f"the kernel has no {point.mode.name}")
            carried = ["encap", "seg6", "mode", point.mode.kernel, "segs", ",".join(point.hops)]
        command([*ip, "route", "add", str(point.prefix), *carried, *out])
