"""Namespaces for whoever forwards: traffic stays in them, and they are gone when the block ends.

outer namespace              a candidate's namespace        outer namespace
generator -- in-NAME ======= west -- NAME -- east ========= out-NAME -- counter
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bench.encap.points import OUT_PORT, Point, hops
from harness.namespaces import Nodes
from small_site import PROVIDER, ROUTER

SEGMENTS_PREFIX = "fd00::/16"
SEGMENTS_SOURCE = "fd00:5::1"
NEXT_HOP = "fe80::a1"
OUTER = "outer"


@dataclass(frozen=True, slots=True)
class Road:
    """A candidate's interfaces, and the words that run a command among them."""

    name: str
    nodes: Nodes

    @property
    def prefix(self) -> list[str]:
        """Before every command that shall see `west` and `east`."""
        return self.nodes.inside(self.name)


@dataclass(frozen=True, slots=True)
class Network:
    """The outer namespace and the roads that begin and end in it."""

    nodes: Nodes

    @property
    def prefix(self) -> list[str]:
        """Before a command that sends and counts."""
        return self.nodes.inside(OUTER)

    def road(self, name: str) -> Road:
        """A new road."""
        # The kernel's own IPv6 would spend time on packets that others forward.
        self.nodes.add(name, is_switch=True)
        self.nodes.join(OUTER, f"in-{name}", name, "west", ROUTER[1])
        self.nodes.join(OUTER, f"out-{name}", name, "east", ROUTER[100])
        return Road(name, self.nodes)

    def plain(self) -> None:
        """One pair with nobody between: what generator and counter take themselves."""
        self.nodes.join(OUTER, "in-plain", OUTER, "out-plain")


@contextlib.contextmanager
def network() -> Iterator[Network]:
    """A network without roads."""
    with Nodes("encap") as nodes:
        nodes.add(OUTER, is_switch=True)
        yield Network(nodes)


def kernel_forwards(road: Road, points: Sequence[Point], seed: int) -> None:
    """Have the kernel of a road do with these points' packets what the switch does."""
    nodes, name = road.nodes, road.name
    enabled = (f"net.ipv6.conf.{device}.disable_ipv6=0" for device in ("all", "west", "east"))
    nodes.run(name, "sysctl", "-qw", *enabled, "net.ipv6.conf.all.forwarding=1")
    nodes.address(name, "east", "fe80::1/64", "2001:db8:a::2/128")
    nodes.ip(name, f"-6 neighbour add {NEXT_HOP} lladdr {PROVIDER[OUT_PORT]} dev east nud permanent")
    nodes.ip(name, f"sr tunsrc set {SEGMENTS_SOURCE}")
    out = f"via {NEXT_HOP} dev east"
    nodes.ip(name, f"-6 route add {SEGMENTS_PREFIX} {out}")
    for point in points:
        carried = ""
        if point.mode:
            if point.mode.kernel is None:
                raise ValueError(f"the kernel has no {point.mode.name}")
            carried = f"encap seg6 mode {point.mode.kernel} segs {','.join(hops(point.size, seed))}"
        nodes.ip(name, f"-6 route add {point.prefix} {carried} {out}")
