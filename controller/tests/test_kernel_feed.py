"""Netlink as a real kernel speaks it, in a namespace of its own."""

from __future__ import annotations

import asyncio
import os
import random
import socket
import subprocess
import uuid
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from ipaddress import IPv6Network
from pathlib import Path

import pytest
from linux_site import SITE
from rig import Rig
from test_adapter import SWITCH

from wayname.adapter import kernel_feed
from wayname.adapter.kernel_feed import KernelFeed
from wayname.adapter.link_poll import LinkPoll
from wayname.adapter.shown_carriers import follow_carriers
from wayname.edge.boundary import Event, KernelChanges
from wayname.netlink.messages import Decoder, Link, Route, ends_dump

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
        self.free = asyncio.Event()
        self.free.set()

    async def hear(self, changes: KernelChanges) -> None:
        await self.free.wait()
        self.rig.receive(changes)
        self.changed.set()

    def count(self) -> int:
        kernel = self.rig.edge.kernel
        assert kernel is not None
        return len(kernel.routes)

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


async def test_a_route_that_comes_back_at_once_was_never_away(namespace: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As BIRD replaces one."""
    monkeypatch.setattr(kernel_feed, "LINGER", 1.0)
    replaced, other = "2001:db8:a::/48", "2001:db8:b::/48"
    states: list[set[str]] = []
    ip(namespace, f"route add {replaced} via {GATEWAYS[0]} proto bird")
    async with following(namespace) as followed:
        receive = followed.rig.receive

        def heard(*changes: KernelChanges) -> None:
            receive(*changes)
            states.append(followed.prefixes())

        monkeypatch.setattr(followed.rig, "receive", heard)
        await asyncio.to_thread(ip, namespace, f"route del {replaced}")
        await asyncio.to_thread(ip, namespace, *(f"route add {each} via {GATEWAYS[1]}" for each in (replaced, other)))
        await until(followed, other)
    assert states
    assert all(replaced in state for state in states)


async def test_links_that_are_asked_for_say_what_they_are(namespace: str) -> None:
    heard: asyncio.Queue[Link] = asyncio.Queue()

    async def hear(changes: KernelChanges) -> None:
        for said in changes.messages:
            assert isinstance(said, Link)
            await heard.put(said)

    # One that is not there yet keeps nobody from asking for the others.
    polling = asyncio.create_task(LinkPoll(namespace, lambda: ("wan9", "wan0"), hear).run())
    async with asyncio.timeout(20):
        assert (await heard.get()).up
        ip(namespace, "link set wan0-far down")
        assert not (await heard.get()).up
        ip(namespace, "link add wan9 type veth peer name wan9-far")
        assert [(said.name, said.up) for said in [await heard.get()]] == [("wan9", False)]
        ip(namespace, "link set wan0-far up")
        assert (await heard.get()).name == "wan0"
    polling.cancel()


async def test_the_switch_is_believed_before_linux(namespace: str) -> None:
    heard: asyncio.Queue[Link] = asyncio.Queue()

    async def hear(changes: KernelChanges) -> None:
        for said in changes.messages:
            assert isinstance(said, Link)
            await heard.put(said)

    poll = LinkPoll(namespace, lambda: ("wan0",), hear)
    polling = asyncio.create_task(poll.run())
    async with asyncio.timeout(20):
        assert (await heard.get()).up
        # Linux goes on saying that it is up.
        await poll.hear_dark({"wan0"})
        assert not (await heard.get()).up
        ip(namespace, "link set wan0-far down")
        await poll.hear_dark(())
        ip(namespace, "link set wan0-far up")
        assert (await heard.get()).up
    polling.cancel()
    assert heard.empty()


@pytest.mark.skipif(not Path("/dev/net/tun").exists(), reason="there is no /dev/net/tun")
async def test_the_switch_says_what_carriers_it_shows_to_linux(namespace: str, tmp_path: Path) -> None:
    heard: asyncio.Queue[Mapping[int, bool]] = asyncio.Queue()
    admin, wire = tmp_path / "admin", tmp_path / "1"
    following = asyncio.create_task(follow_carriers(f"unix:{admin}", heard.put))
    ports = ("-i", f"1@wire:{wire}", "-i", f"101@tap:tap0?namespace={namespace}&carrier=1")
    command = (SWITCH, "--grpc-server-addr", f"unix:{tmp_path}/p4runtime", "--admin", str(admin), *ports)
    async with asyncio.timeout(20):
        assert await heard.get() == {}, "no switch yet"
        switch = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.DEVNULL)
        while (await heard.get()).get(101) is not False:
            pass
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as link:
            link.connect(str(wire))
            assert await heard.get() == {101: True}
        assert await heard.get() == {101: False}
        switch.terminate()
        await switch.wait()
        while await heard.get():
            pass
    following.cancel()


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
        # The last word, after which only addresses of links that just came up are on their way.
        ip(namespace, *(f"link set {each}{end} up" for each in DEVICES for end in ("", "-far")))
        ip(namespace, "route add blackhole 2001:db8:ffff::/48")
        await until(followed, "2001:db8:ffff::/48")
        async with following(namespace) as later:
            for _ in range(100):
                if followed.placed() == later.placed():
                    break
                await asyncio.sleep(0.05)
            assert followed.placed() == later.placed()


LAST_WORD = "2001:db8:ffff::/48"
SMALLEST_BUFFER = 4096
ROOM_FOR_FEW = 1 << 18
MANY = 4000
BATCH = 100


async def changed_meanwhile(namespace: str, lines: list[str]) -> None:
    """Change a kernel while it is followed."""
    command = ("ip", "-force", "-6", "-n", namespace, "-batch", "-")
    pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
    changer = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=nowhere, stderr=nowhere)
    await changer.communicate("\n".join(lines).encode())


def kernel_s(namespace: str) -> set[str]:
    """Return the prefixes of a kernel's routes by BGP."""
    command = ["ip", "-6", "-n", namespace, "route", "show", "proto", "bgp"]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {line.split()[0] for line in said.splitlines()}


async def until_routed(followed: Followed, prefixes: set[str]) -> None:
    """Wait until these are the prefixes of 48 bits on the switch."""
    while {each for each in on_switch(followed) if each.endswith("/48")} - {LAST_WORD} != prefixes:
        followed.changed.clear()
        await followed.changed.wait()


def on_switch(followed: Followed) -> Iterator[str]:
    """Yield the prefixes of routes."""
    for entry in followed.rig.entries("routes"):
        match entry.get("destination"):
            case int(address), int(length):
                yield str(IPv6Network((address, length)))


async def test_changes_wait_here_and_not_in_the_socket(namespace: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Much more changes than the socket has room for, while an edge deals with the first of them."""
    monkeypatch.setattr(kernel_feed, "RECEIVE_BUFFER", ROOM_FOR_FEW)
    async with following(namespace) as followed:
        followed.free.clear()
        lines = [f"route add blackhole 2001:db8:{number:x}::/48 proto bgp" for number in range(MANY)]
        for at in range(0, MANY, BATCH):
            await changed_meanwhile(namespace, lines[at : at + BATCH])
        followed.free.set()
        while followed.count() < MANY:
            followed.changed.clear()
            await followed.changed.wait()
        assert [event.kind for event in followed.events] == []


@pytest.mark.parametrize("seed", range(3))
async def test_changes_that_netlink_lost_are_read_again(
    namespace: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With room for a few messages, thousands of changes at once: the tables are the kernel's afterwards."""
    monkeypatch.setattr(kernel_feed, "RECEIVE_BUFFER", SMALLEST_BUFFER)
    rng = random.Random(seed)
    prefixes = [f"2001:db9:{number:x}::/48" for number in range(MANY)]
    async with following(namespace) as followed:
        await changed_meanwhile(namespace, [f"route add {each} via {GATEWAYS[0]} proto bgp" for each in prefixes])
        lines = [
            rng.choice((f"route del {each}", f"route replace {each} via {rng.choice(GATEWAYS)} proto bgp"))
            for each in rng.sample(prefixes, MANY)
        ]
        await changed_meanwhile(namespace, lines)
        # The last word, which is heard however many others were lost.
        ip(namespace, f"route add blackhole {LAST_WORD}")
        await until(followed, LAST_WORD)
        await until_routed(followed, kernel_s(namespace))
        assert {event.kind for event in followed.events} == {"kernel.overflow"}
        async with following(namespace) as later:
            assert followed.placed() == later.placed()


async def test_routes_that_go_while_all_are_read_hide_no_others(
    namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel goes on where it was by counting, and so leaves out as many as it lost before that place."""
    by_bgp = f"via {GATEWAYS[0]} proto bgp"
    going = [f"2001:db8:{number:x}::/48" for number in range(0x1000, 0x1000 + MANY)]
    staying = [f"2001:db9:{number:x}::/48" for number in range(0x1000, 0x1000 + MANY)]
    ip(namespace, *(f"route add {each} {by_bgp}" for each in (*going, *staying)))
    changes = [*(f"route del {each}" for each in going), f"route add 2001:dba::/48 {by_bgp}"]

    def changed_at_the_first_routes(octets: bytes) -> bool:
        if changes and next(Decoder().decode(octets)).__class__ is Route:
            ip(namespace, *changes)
            changes.clear()
        return ends_dump(octets)

    monkeypatch.setattr(kernel_feed, "ends_dump", changed_at_the_first_routes)
    async with following(namespace) as followed:
        assert not changes
        await until_routed(followed, {*staying, "2001:dba::/48"})
