"""Controllers of one edge as processes, with a real etcd, a real switch and packets."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import httpx
import pytest
from finsy.proto import p4r
from fleet.recorded_switch import STREAM, RecordedSwitch, recorded
from test_adapter import SwitchProcess, hosts
from test_command import Up, fails, up, wayname
from two_networks import TWO_NETWORKS
from wire_host import WireHost

from wayname.fleet.sealing import new_key
from wayname_lab.etcd import EtcdCluster, free_ports, missing_for_etcd

# Seconds within which another controller leads, as docs/fleet.md says of etcd as it is tuned there.
PATIENCE = 60.0
CONFIG = """
[switch]
address = "127.0.0.1:{port}"
[api]
socket = "unix:{folder}/{name}.api"
[controller]
log_format = "json"
[fleet]
endpoints = [{endpoints}]
edge = "berlin"
controller = "{name}"
sealing_key = "fleet.key"
"""
ALONE = """
[switch]
address = "127.0.0.1:{port}"
[api]
socket = "unix:{folder}/alone.api"
[controller]
log_format = "json"
"""
LOW = (1 << 64) - 1
ROUTE = '[[route]]\nprefix = "2001:db8:77::/48"\nvia = "prohibited"\n'


class Fleet:
    """Controllers of the edge "berlin", whose switch is recorded on the way."""

    def __init__(self, folder: Path, cluster: EtcdCluster, port: int) -> None:
        self.cluster, self.port, self._folder = cluster, port, folder
        make_key(folder)
        self.controllers: dict[str, Up] = {}

    def start(self, name: str, tables: str = TWO_NETWORKS) -> Up:
        """Start a controller with a file that has these tables."""
        endpoints = ", ".join(f'"{each}"' for each in self.cluster.endpoints)
        text = CONFIG.format(port=self.port, folder=self._folder, name=name, endpoints=endpoints)
        config = self._folder / f"{name}.toml"
        config.write_text(text + tables)
        self.controllers[name] = Up(config)
        return self.controllers[name]

    async def ask(self, name: str, *words: str) -> str:
        """Return what a controller prints for a command; the switch is recorded meanwhile."""
        return (await self._asked(name, *words)).stdout

    async def refused(self, name: str, *words: str) -> str:
        """Return the line by which it refuses a command."""
        return fails(await self._asked(name, *words))

    async def _asked(self, name: str, *words: str) -> subprocess.CompletedProcess[str]:
        return await asyncio.to_thread(wayname, "--api", f"unix:{self._folder}/{name}.api", *words)

    def end(self) -> None:
        """Kill all."""
        for each in self.controllers.values():
            each.process.kill()
            each.process.wait()


def make_key(folder: Path) -> None:
    """Make the sealing key of a fleet, unless it is there."""
    key = folder / "fleet.key"
    if not key.exists():
        key.touch(0o600)
        key.write_text(new_key() + "\n")


async def until(holds: Callable[[], object], what: str) -> None:
    """Wait until something is so."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, what
        await asyncio.sleep(0.01)


def tells(running: Up, kind: str) -> bool:
    """Whether a controller logged something of a kind."""
    return kind in running.kinds()


@pytest.fixture
def switch(tmp_path: Path) -> Iterator[SwitchProcess]:
    process = SwitchProcess(tmp_path)
    yield process
    process.kill()


@contextlib.asynccontextmanager
async def edge(
    folder: Path, switch: SwitchProcess, cluster: EtcdCluster, *names: str, tables: str = TWO_NETWORKS
) -> AsyncIterator[tuple[Fleet, RecordedSwitch, WireHost, WireHost]]:
    """An edge that is up, with its hosts; the first controller leads."""
    [port] = free_ports(1)
    fleet = Fleet(folder, cluster, port)
    async with recorded(f"127.0.0.1:{switch.port}", port) as record, hosts(folder) as (one, two):
        switch.start("--state", str(folder / "switch.state"))
        try:
            async with asyncio.timeout(3 * PATIENCE):
                for name in names:
                    running = fleet.start(name, tables)
                    kind = "switch.up" if name == names[0] else "fleet.standby"
                    await until(partial(tells, running, kind), f"{kind} of {name}")
                await one.ping(str(two.address))
                await two.ping(str(one.address))
                yield fleet, record, one, two
        finally:
            fleet.end()


async def test_a_leader_is_killed_and_no_packet_is_lost(
    switch: SwitchProcess, three_etcds: EtcdCluster, tmp_path: Path
) -> None:
    async with edge(tmp_path, switch, three_etcds, "first", "second") as (fleet, record, one, two):
        line = "this controller does not lead edge berlin: first leads the edge, second waits"
        status = " ".join((await fleet.ask("second", "status")).split())
        assert line in status and "state waiting" in status
        first, second = fleet.controllers["first"], fleet.controllers["second"]
        before = max(each.election_id for each in record.writes)
        leads, waits = [await asyncio.to_thread(asked, tmp_path, each) for each in ("first", "second")]
        assert (leads["leads"], leads["election_id"], leads["unwritten"], leads["why"]) == (True, str(before), 0, "")
        assert (waits["leads"], waits["election_id"], waits["why"]) == (False, None, line)
        one.forget()
        pinging = asyncio.create_task(ping_on(one, two))
        first.process.send_signal(signal.SIGKILL)
        killed = time.monotonic()
        await until(lambda: "switch.up" in second.kinds(), "a new leader")
        taken = time.monotonic() - killed
        pinging.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await pinging
        print(f"a new leader has the switch after {taken:.2f} s")
        assert one.asked > 5
        await until(lambda: one.answered == one.asked, "an answer to each ping")
        # What the first wrote stands: the second has nothing to write, and what it writes from now on has a higher id.
        await reloaded(second)
        assert all(each.accepted for each in record.writes)
        ids = [each.election_id for each in record.writes]
        assert ids == sorted(ids)
        again = fleet.start("first")
        await until(lambda: "fleet.standby" in again.kinds(), "the first as standby")
        assert before <= max(ids)
        # Drained, the second lets the first lead; who waits has nothing to let go.
        assert await asyncio.to_thread(drained, tmp_path, "first") == 409
        assert await asyncio.to_thread(drained, tmp_path, "second") == 200
        await until(lambda: "fleet.leads" in again.kinds(), "the first as leader")
        assert max(each.election_id for each in record.writes if each.accepted) >= max(ids)


async def reloaded(running: Up) -> None:
    """Have a controller read its file; where a machine is very busy etcd may be missed for a moment, and it refuses."""
    while "config.reloaded" not in running.kinds():
        seen = len(running.kinds())
        running.process.send_signal(signal.SIGHUP)
        await until(partial(answered, running, seen), "what came of its file")


def drained(folder: Path, name: str) -> int:
    """Have a controller let another one lead; return the API's status."""
    transport = httpx.HTTPTransport(uds=str(folder / f"{name}.api"))
    with httpx.Client(transport=transport, base_url="http://controller", timeout=PATIENCE) as client:
        return client.post("/v1/fleet/drain").status_code


def answered(running: Up, seen: int) -> bool:
    """Whether a controller said what came of its file."""
    return bool({"config.reloaded", "config.refused"} & set(running.kinds()[seen:]))


def numbers(folder: Path, name: str) -> tuple[float, float]:
    """Return the metrics by which alerts are raised: whether a controller leads, and whether it may change the edge."""
    transport = httpx.HTTPTransport(uds=str(folder / f"{name}.api"))
    with httpx.Client(transport=transport, base_url="http://controller", timeout=PATIENCE) as client:
        lines = dict(line.rsplit(" ", 1) for line in client.get("/metrics").text.splitlines())
    leads, may_change = (lines[f'wayname_fleet_{each}{{edge="berlin"}}'] for each in ("leads", "may_change"))
    return float(leads), float(may_change)


def asked(folder: Path, name: str) -> Any:
    """Return what a controller says of its fleet."""
    assert numbers(folder, name) == ((1.0, 1.0) if name == "first" else (0.0, 0.0))
    transport = httpx.HTTPTransport(uds=str(folder / f"{name}.api"))
    with httpx.Client(transport=transport, base_url="http://controller", timeout=PATIENCE) as client:
        refused = client.post("/v1/schedules/estimates", json=[])
        assert (refused.status_code == 503) == (name != "first"), refused.text
        answer = client.get("/v1/fleet").json()
        assert name == "first" or refused.json()["detail"] == answer["why"]
        return answer


async def nothing_is_lost(one: WireHost, two: WireHost) -> None:
    """Ping fifty times, and have an answer to each, however late."""
    one.forget()
    for _ in range(50):
        await one.ping_once(str(two.address))
    await until(lambda: one.answered == one.asked, "an answer to each ping")


async def ping_on(one: WireHost, two: WireHost) -> None:
    """Ping fifty times a second, for ever."""
    while True:
        await one.ping_once(str(two.address))
        await asyncio.sleep(0.02)


async def test_a_leader_that_stood_still_writes_nothing_more(
    switch: SwitchProcess, three_etcds: EtcdCluster, tmp_path: Path
) -> None:
    async with edge(tmp_path, switch, three_etcds, "first", "second") as (fleet, record, one, two):
        first, second = fleet.controllers["first"], fleet.controllers["second"]
        old = max(each.election_id for each in record.writes)
        first.process.send_signal(signal.SIGSTOP)
        await until(lambda: "switch.up" in second.kinds(), "a new leader")
        # The switch fences it already; it does not even try, though there is something to write as soon as it runs.
        (tmp_path / "first.toml").write_text((tmp_path / "first.toml").read_text() + ROUTE)
        (tmp_path / "second.toml").write_text((tmp_path / "second.toml").read_text() + ROUTE)
        first.process.send_signal(signal.SIGHUP)
        first.process.send_signal(signal.SIGCONT)
        continued = time.monotonic()
        await until(lambda: "fleet.ended" in first.kinds(), "the old leader's end")
        await until(lambda: "fleet.standby" in first.kinds(), "the old leader as standby")
        # It does not lead: what its file says is for when it does.
        await until(lambda: {"config.refused", "config.reloaded"} & set(first.kinds()), "what came of its file")
        assert not [each for each in record.writes if each.election_id == old and each.at > continued]
        await reloaded(second)
        await until(lambda: record.writes[-1].election_id > old, "the new leader's route")
        await one.ping(str(two.address))


async def test_etcd_stops_and_comes_back(switch: SwitchProcess, three_etcds: EtcdCluster, tmp_path: Path) -> None:
    async with edge(tmp_path, switch, three_etcds, "first") as (fleet, record, one, two):
        first = fleet.controllers["first"]
        for member in three_etcds.members:
            three_etcds.kill(member)
        await until(lambda: "fleet.held" in first.kinds(), "that etcd is missed")
        written = len(record.writes)
        await nothing_is_lost(one, two)
        config = tmp_path / "first.toml"
        config.write_text(config.read_text() + ROUTE)
        line = await fleet.refused("first", "reload")
        assert "etcd does not answer, so edge berlin stays as it is until it does" in line
        assert "etcd does not answer" in await fleet.ask("first", "status")
        assert await asyncio.to_thread(numbers, tmp_path, "first") == (1.0, 0.0)
        assert len(record.writes) == written
        for member in three_etcds.members:
            three_etcds.start(member)
        await until(
            lambda: {"fleet.resumed"} & set(first.kinds()) or first.kinds().count("fleet.leads") > 1, "that it goes on"
        )
        while "etcd does not answer" in await fleet.ask("first", "status"):
            continue
        assert await fleet.ask("first", "reload") == "changed: route\n"
        assert len(record.writes) > written
        await one.ping(str(two.address))
        assert "2001:db8:77::/48" in await fleet.ask("first", "routes")


async def test_a_switch_that_starts_anew_still_refuses_who_led_before(
    switch: SwitchProcess, three_etcds: EtcdCluster, tmp_path: Path
) -> None:
    async with edge(tmp_path, switch, three_etcds, "first", "second") as (fleet, record, one, two):
        first, second = fleet.controllers["first"], fleet.controllers["second"]
        old = max(each.election_id for each in record.writes)
        first.process.kill()
        await until(lambda: "switch.up" in second.kinds(), "a new leader")
        second.process.kill()
        switch.kill()
        switch.start("--state", str(tmp_path / "switch.state"))
        await one.ping(str(two.address))
        # Nobody leads, and who did first does not know that it does not.
        channel: Any
        async with grpc.aio.insecure_channel(f"127.0.0.1:{switch.port}") as channel:
            bid = p4r.MasterArbitrationUpdate(device_id=1, election_id=p4r.Uint128(high=old >> 64, low=old & LOW))
            stream = channel.stream_stream(STREAM, response_deserializer=p4r.StreamMessageResponse.FromString)()
            await stream.write(p4r.StreamMessageRequest(arbitration=bid).SerializeToString())
            answer = await stream.read()
            assert answer.arbitration.status.code == grpc.StatusCode.NOT_FOUND.value[0]
            assert answer.arbitration.election_id.low > old & LOW
            write = channel.unary_unary("/p4.v1.P4Runtime/Write")
            stale = p4r.WriteRequest(device_id=1, election_id=bid.election_id)
            with pytest.raises(grpc.aio.AioRpcError) as error:
                await write(stale.SerializeToString())
            assert error.value.code() is grpc.StatusCode.PERMISSION_DENIED
            stream.cancel()
        again = fleet.start("first")
        await until(lambda: "switch.up" in again.kinds(), "a leader")


async def test_an_edge_that_had_a_controller_alone_joins_a_fleet(
    switch: SwitchProcess, three_etcds: EtcdCluster, tmp_path: Path
) -> None:
    """Its switch has heard of 100, and etcd's revisions begin at 1."""
    switch.start("--state", str(tmp_path / "switch.state"))
    alone = tmp_path / "alone.toml"
    alone.write_text(ALONE.format(port=switch.port, folder=tmp_path) + TWO_NETWORKS)
    with up(alone) as running:
        running.logs("switch.up")
    switch.kill()
    for wire in ("1", "2"):
        (tmp_path / wire).unlink(missing_ok=True)
    async with edge(tmp_path, switch, three_etcds, "first") as (_fleet, record, one, two):
        assert {each.election_id >> 64 for each in record.writes if each.accepted} == {1}
        await one.ping(str(two.address))


async def test_etcd_is_restored_from_an_old_snapshot(switch: SwitchProcess, tmp_path: Path) -> None:
    """Its revisions begin again below those that the switch has heard of."""
    if reason := missing_for_etcd():
        pytest.skip(reason)
    folder = tmp_path / "etcds"
    folder.mkdir()
    with EtcdCluster(folder, members=1) as cluster:
        [member] = cluster.members
        saved = tmp_path / "snapshot"
        assert cluster.ctl("snapshot", "save", str(saved)).returncode == 0
        for number in range(20):
            cluster.ctl("put", "/later", str(number))
        async with edge(tmp_path, switch, cluster, "first") as (fleet, record, one, two):
            heard = max(each.election_id for each in record.writes)
            cluster.kill(member)
            await asyncio.to_thread(cluster.restore, member, saved)
            await asyncio.to_thread(cluster.start, member)
            first = fleet.controllers["first"]
            await until(lambda: first.kinds().count("switch.up") > 1, "that it has the switch again")
            await one.ping(str(two.address))
            config = tmp_path / "first.toml"
            config.write_text(config.read_text() + ROUTE)
            await reloaded(first)
            last = record.writes[-1]
            assert last.accepted and last.election_id > heard and last.election_id >> 64 == 1
