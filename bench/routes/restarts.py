"""Restarts the switch under packets between two hosts, and prints what is lost: ended and started again, with its state
in a file and without; and by a hot restart, at moments drawn by seed.

A host sends 2000 datagrams a second through the edge to another one. What a switch finds at its ports when it is there
again was not lost: it is late. `--routes` gives the edge other routes beside, which a restart has to bring over.
"""

from __future__ import annotations

import contextlib
import math
import os
import random
import signal
import socket
import struct
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from bench.routes.edge import Edge
from bench.routes.site import INTERVAL, prefix, wait
from bench.shim6.report import table
from bench.spread import HEADS_OF_MANY, Spread
from harness.namespaces import Nodes, missing
from harness.switches import built_switch, hot_restart
from wayname.adapter.netlink_socket import NAMESPACES, enter
from wayname_lab.commands import controller

PORT = 9
TARGET = "2001:db8:2::11"
RECEIVE_BUFFER, SO_RCVBUFFORCE = 64 << 20, 33
# Until all is as before, and until what is on its way has come.
SETTLES, COMES = 8.0, 1.0
# Before and after a hot restart, after which all is as before once the controller is there again.
LONGEST_BEFORE, AFTER = 1.0, 2.0
CONFIG = """
[switch]
address = "unix:{folder}/switch"
[api]
socket = "unix:{folder}/api"
[[port]]
number = 1
vlan = 10
[[port]]
number = 2
vlan = 20
[[interface]]
vlan = 10
addresses = ["2001:db8:1::1/64"]
[[interface]]
vlan = 20
addresses = ["2001:db8:2::1/64"]
"""
ROUTE = """[[route]]
prefix = "{prefix}"
via = ["2001:db8:2::11"]
"""


@dataclass
class Stream:
    """Numbered datagrams from one host to the other."""

    sender: str
    receiver: str
    sent: int = 0
    late: dict[int, float] = field(default_factory=dict)  # milliseconds, of each that came
    twice: int = 0
    ends: threading.Event = field(default_factory=threading.Event)

    def start(self) -> None:
        """Send and receive until told to end."""
        for serve in (self._receive, self._send):
            threading.Thread(target=serve, daemon=True).start()

    def _receive(self) -> None:
        enter(NAMESPACES / self.receiver)
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as end:
            end.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, RECEIVE_BUFFER)
            end.bind(("::", PORT))
            end.settimeout(0.2)
            while not self.ends.is_set():
                with contextlib.suppress(TimeoutError):
                    number, sent = struct.unpack("!QQ", end.recv(64))
                    self.twice += number in self.late
                    self.late.setdefault(number, (time.monotonic_ns() - sent) / 1e6)

    def _send(self) -> None:
        enter(NAMESPACES / self.sender)
        at = time.monotonic()
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as end:
            while not self.ends.is_set():
                end.sendto(struct.pack("!QQ", self.sent, time.monotonic_ns()), (TARGET, PORT))
                self.sent += 1
                at += INTERVAL
                time.sleep(max(0.0, at - time.monotonic()))


class Site:
    """The edge between the hosts."""

    def __init__(self, nodes: Nodes, folder: Path, routes: int) -> None:
        self._nodes, self._folder = nodes, folder
        self._next: int | None = None
        nodes.add("one", "two")
        nodes.add("switch", is_switch=True)
        for number, name in enumerate(("one", "two"), 1):
            nodes.join(name, "eth0", "switch", f"eth{number}")
            nodes.address(name, "eth0", f"2001:db8:{number}::11/64")
            nodes.ip(name, f"-6 route add default via 2001:db8:{number}::1")
        more = "".join(ROUTE.format(prefix=prefix(number)) for number in range(routes))
        (folder / "edge.toml").write_text(CONFIG.format(folder=folder) + more)
        self.switch = self._started()
        edge = Edge(folder, lambda: nodes.start("switch", *controller(folder / "edge.toml")))
        wait(lambda: edge.is_ready() and edge.entries() >= routes, 0.5)
        nodes.wait_for("one", "ping", "-c", "1", "-W", "1", TARGET)
        self.stream = Stream(nodes.namespace("one"), nodes.namespace("two"))
        self.stream.start()

    def _started(self) -> subprocess.Popen[bytes]:
        files = ("--grpc-server-addr", f"unix:{self._folder}/switch", "--state", f"{self._folder}/state")
        return self._nodes.start("switch", built_switch(), *files, "-i", "1@eth1", "-i", "2@eth2")

    def restart(self, *, with_state: bool) -> tuple[int, float]:
        """Return how many packets were lost, and how late the latest was, in milliseconds."""
        first = self.stream.sent
        self.switch.terminate()
        self.switch.wait()
        if not with_state:
            (self._folder / "state").unlink()
        self.switch = self._started()
        return self._lost(first, SETTLES)

    def hot_restart(self, before: float) -> tuple[int, float]:
        """Return the same of a hot restart so many seconds from now."""
        first = self.stream.sent
        time.sleep(before)
        self._next = hot_restart(self._next or self.switch)
        return self._lost(first, AFTER)

    def end(self) -> None:
        """End what a hot restart left."""
        self.stream.ends.set()
        if self._next is not None:
            os.kill(self._next, signal.SIGTERM)

    def _lost(self, first: int, settles: float) -> tuple[int, float]:
        time.sleep(settles)
        last = self.stream.sent
        time.sleep(COMES)
        came = [self.stream.late[number] for number in range(first, last) if number in self.stream.late]
        return last - first - len(came), max(came, default=math.inf)


@click.command()
@click.option("--restarts", default=30, show_default=True, help="How often the switch is started again, each way.")
@click.option("--only-hot", is_flag=True, help="Hot restarts alone.")
@click.option("--routes", default=0, show_default=True, help="How many the switch has beside those to the hosts.")
@click.option("--seed", default=1001, show_default=True)
def main(restarts: int, only_hot: bool, routes: int, seed: int) -> None:
    """Measure what a restart of the switch loses (root)."""
    if lacking := missing("ping"):
        raise click.ClickException(f"needs {lacking}")
    moments = random.Random(seed)
    with Nodes("restarts") as nodes, TemporaryDirectory() as folder:
        site = Site(nodes, Path(folder), routes)
        seen: dict[str, list[tuple[int, float]]] = {}
        try:
            if not only_hot:
                for what, with_state in (("with --state", True), ("without", False)):
                    seen[what] = [site.restart(with_state=with_state) for _ in range(restarts)]
            befores = [moments.uniform(0, LONGEST_BEFORE) for _ in range(restarts)]
            seen["hot"] = [site.hot_restart(before) for before in befores]
        finally:
            site.end()
    rows = []
    for what, lost_and_late in seen.items():
        lost, late = zip(*lost_and_late, strict=True)
        for unit, values in (("packets lost", lost), ("ms late", late)):
            rows.append((f"{unit}, {what}", *Spread.of(values).cells_of_many(1)))
    click.echo("\n".join(table(("of 2000 packets a second", *HEADS_OF_MANY), rows)))
    click.echo(f"{site.stream.sent} packets sent, {len(site.stream.late)} came, {site.stream.twice} of them twice")


if __name__ == "__main__":
    main()
