"""Cuts the link behind a TAP device with many routes, and prints when the switch says so, and when Linux does.

Both are asked for the same cut: the switch at its administration socket, Linux by netlink 50 times a second, as the
controller asks them. A time begins before `ip link set ... down` is started.
"""

from __future__ import annotations

import random
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import click
import httpx

from bench.routes.site import prefix, wait
from bench.shim6.report import table
from bench.spread import HEADS_OF_MANY, Spread
from harness.namespaces import Nodes, missing
from harness.switches import built_switch
from wayname.adapter.link_poll import PERIOD
from wayname.adapter.netlink_socket import open_in
from wayname.netlink.messages import Decoder, Link, link_request

TAP = 101
# The kernel tells of links once a second at most.
BETWEEN = 1.5


class Told:
    """Who is asked for the carrier again and again, what was said last, and when."""

    def __init__(self, asks: Callable[[], bool], pause: float = 0) -> None:
        self.up, self.at = True, 0.0
        self._asks, self._pause = asks, pause
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def close(self) -> None:
        """End it."""
        self._ends.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ends.wait(self._pause):
            up = self._asks()
            if up != self.up:
                self.up, self.at = up, time.monotonic()


def cuts(nodes: Nodes, folder: Path, routes: int, times: int, seed: int) -> dict[str, list[float]]:
    """Return by who said it after how many milliseconds each cut was told."""
    nodes.add("edge", "far")
    nodes.add("switch", is_switch=True)
    nodes.join("far", "eth0", "switch", "to-far")
    edge = nodes.namespace("edge")
    sockets = ("--grpc-server-addr", f"unix:{folder}/p4runtime", "--admin", f"{folder}/admin")
    ports = ("-i", "1@to-far", "-i", f"{TAP}@tap:wan0?namespace={edge}&carrier=1")
    nodes.start("switch", built_switch(), *sockets, *ports)
    nodes.wait_for("edge", "ip", "link", "show", "wan0")
    nodes.ip("edge", "link set wan0 up")
    nodes.address("edge", "wan0", "2001:db8:1::2/64")
    lines = "".join(f"route add {prefix(number)} via 2001:db8:1::1 dev wan0\n" for number in range(routes))
    subprocess.run(["ip", "-6", "-n", edge, "-batch", "-"], input=lines, text=True, check=True)
    client = httpx.Client(transport=httpx.HTTPTransport(uds=f"{folder}/admin"), base_url="http://switch", timeout=10)
    known = 0

    def switch_says() -> bool:
        nonlocal known
        said = client.get(f"/carriers/{known}").raise_for_status().json()
        known = said["changes"]
        return bool(said["up"][str(TAP)])

    def linux_says() -> bool:
        netlink.send(link_request("wan0"))
        return next(each.up for each in Decoder().decode(netlink.recv(1 << 16)) if isinstance(each, Link))

    rng = random.Random(seed)
    with client, open_in(edge) as netlink:
        told = {"the switch": Told(switch_says), "Linux": Told(linux_says, PERIOD)}
        after: dict[str, list[float]] = {who: [] for who in told}
        try:
            for _ in range(times):
                time.sleep(BETWEEN + rng.uniform(0, PERIOD))
                at = time.monotonic()
                nodes.ip("far", "link set eth0 down")
                wait(lambda: not any(each.up for each in told.values()), 0.001)
                for who, each in told.items():
                    after[who].append((each.at - at) * 1000)
                nodes.ip("far", "link set eth0 up")
                wait(lambda: all(each.up for each in told.values()), 0.001)
        finally:
            for each in told.values():
                each.close()
    return after


@click.command()
@click.option("--routes", default=100_000, show_default=True, help="Routes by the TAP device.")
@click.option("--cuts", "times", default=30, show_default=True, help="How often the link is cut.")
@click.option("--seed", type=int, default=1, show_default=True, help="The same moments for the same seed.")
def main(routes: int, times: int, seed: int) -> None:
    """Measure who tells first that a TAP device lost its carrier (root)."""
    if lacking := missing(tap=True):
        raise click.ClickException(f"needs {lacking}")
    with Nodes("carriers") as nodes, TemporaryDirectory() as folder:
        after = cuts(nodes, Path(folder), routes, times, seed)
    rows = [(who, *Spread.of(values).cells_of_many(1)) for who, values in after.items()]
    click.echo("\n".join(table((f"ms after the cut, {routes} routes", *HEADS_OF_MANY), rows)))


if __name__ == "__main__":
    main()
