"""Netlink as a real kernel speaks it, in a namespace of its own."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress

import pytest
from linux_site import SITE
from rig import Rig

from wayname.adapter.kernel_feed import KernelFeed
from wayname.edge.boundary import Event, KernelChanges

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="namespaces need root")

DEVICES = ("wan0", "wan1")
GATEWAYS = ("2001:db8:100::1", "2001:db8:200::1")


def ip(namespace: str, *lines: str, fails: bool = False) -> None:
    text = "\n".join(lines).encode()
    force = ["-force"] if fails else []
    command = ["ip", *force, "-6", "-n", namespace, "-batch", "-"]
    subprocess.run(command, input=text, check=not fails, stderr=subprocess.DEVNULL if fails else None)


@pytest.fixture
def namespace() -> Iterator[str]:
    name = f"wn-{uuid.uuid4().hex[:8]}"
    subprocess.run(["ip", "netns", "add", name], check=True)
    ip(name, *(f"link add {each} type veth peer name {each}-far" for each in DEVICES))
    ip(name, *(f"link set {each}{end} up" for each in DEVICES for end in ("", "-far")))
    for device, gateway in zip(DEVICES, GATEWAYS, strict=True):
        ip(name, f"address add {gateway[:-1]}2/64 dev {device} nodad")
    yield name
    subprocess.run(["ip", "netns", "delete", name], check=True)


class Followed:
    """An edge that follows a kernel."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.events: list[Event] = []
        self.changed = asyncio.Event()

    async def hear(self, changes: KernelChanges) -> None:
        self.rig.receive(changes)
        self.changed.set()

    def prefixes(self) -> set[str]:
        kernel = self.rig.edge.kernel
        assert kernel is not None
        return {str(prefix) for prefix, _ in kernel.routes.first(1000)}

    def placed(self) -> dict[object, object]:
        """Routes with the members of their groups, and groups without their numbers."""
        placed: dict[object, object] = {}
        for entry in self.rig.entries("routes"):
            group = entry.get("ecmp_group")
            leads = self.rig.members(int(str(group))) if group else entry.get("vlan", "local")
            placed[entry.get("destination")] = leads
        return placed


@asynccontextmanager
async def following(namespace: str) -> AsyncIterator[Followed]:
    followed = Followed(Rig(SITE))
    feed = KernelFeed(namespace, followed.hear, followed.events.append)
    task = asyncio.create_task(feed.run())
    try:
        async with asyncio.timeout(20):
            await feed.ready.wait()
            yield followed
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def until(followed: Followed, prefix: str, is_there: bool = True) -> None:
    while (prefix in followed.prefixes()) != is_there:
        followed.changed.clear()
        await followed.changed.wait()


async def test_routes_come_and_go(namespace: str) -> None:
    ip(namespace, f"route add 2001:db8:a::/48 via {GATEWAYS[0]} proto bgp")
    async with following(namespace) as followed:
        assert "2001:db8:a::/48" in followed.prefixes()
        ip(namespace, f"route add 2001:db8:b::/48 nexthop via {GATEWAYS[0]} nexthop via {GATEWAYS[1]} weight 3")
        await until(followed, "2001:db8:b::/48")
        ip(namespace, "route del 2001:db8:a::/48")
        await until(followed, "2001:db8:a::/48", is_there=False)


async def test_a_namespace_that_is_not_there_keeps_nothing_from_working() -> None:
    async with following("wn-not-there") as followed:
        assert [event.kind for event in followed.events] == ["kernel.away"]
        assert followed.prefixes() == set()


def changes(rng: random.Random, count: int) -> list[str]:
    """Return changes as routing daemons and people make them, some of which the kernel refuses."""
    prefixes = [f"2001:db8:{number:x}::/48" for number in range(0xA00, 0xA06)] + ["::/0"]
    hops = [
        f"via {GATEWAYS[0]}",
        f"via {GATEWAYS[1]}",
        f"nexthop via {GATEWAYS[0]} nexthop via {GATEWAYS[1]} weight 3",
        "nhid 10",
        "nhid 20",
        "dev wan1",
    ]
    lines = ["nexthop add id 1 via 2001:db8:100::1 dev wan0", "nexthop add id 2 via 2001:db8:200::1 dev wan1"]
    lines += ["nexthop add id 10 group 1/2", "nexthop add id 20 group 1"]
    for _ in range(count):
        prefix, metric = rng.choice(prefixes), rng.choice((20, 30))
        lines.append(
            rng.choice(
                (
                    f"route {rng.choice(('add', 'replace', 'append'))} {prefix} {rng.choice(hops)} metric {metric}",
                    f"route del {prefix} metric {metric}",
                    f"route del {prefix} {rng.choice(hops[:2])} metric {metric}",
                    f"route replace {rng.choice(('blackhole', 'prohibit'))} {prefix} metric {metric}",
                    f"nexthop replace id 10 group {rng.choice(('1', '2', '1/2', '1,2/2,5'))}",
                    f"link set {rng.choice(DEVICES)}-far {rng.choice(('up', 'up', 'down'))}",
                    f"link set {rng.choice(DEVICES)} {rng.choice(('up', 'up', 'up', 'down'))}",
                    f"address replace 2001:db8:100::{rng.randint(0x70, 0x72):x}/64 dev wan0 nodad",
                )
            )
        )
    return lines


@pytest.mark.parametrize("seed", range(12))
async def test_the_tables_are_what_a_look_at_all_gives(namespace: str, seed: int) -> None:
    """Whatever changed on the way, who followed it and who comes later have the same in the tables."""
    rng = random.Random(seed)
    async with following(namespace) as followed:
        for _ in range(5):
            ip(namespace, *changes(rng, 20), fails=True)
            await asyncio.sleep(0)
        # The last word, after which nothing is on its way.
        ip(namespace, *(f"link set {each}{end} up" for each in DEVICES for end in ("", "-far")))
        ip(namespace, "route add blackhole 2001:db8:ffff::/48")
        await until(followed, "2001:db8:ffff::/48")
        async with following(namespace) as later:
            assert followed.placed() == later.placed()
