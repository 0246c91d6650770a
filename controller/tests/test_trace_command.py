"""`wayname trace` against an edge that runs: what becomes of a packet, table by table, and why."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest
from rig import program_of
from test_adapter import SwitchProcess, hosts, switch
from test_command import PATIENCE, config, fails, up, wayname
from wayname_switch import Switch

from wayname.adapter.messages import Messages
from wayname.adapter.packet_traces import NoTracesError, trace_packet
from wayname.api.traces import TraceWish, only, packet_of
from wayname.config.model import SwitchConfig
from wayname.edge.boundary import PacketOut, SubmitPacket
from wayname.p4_constants import CPU_PORT, PacketOutKind
from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname.wire.mac import Mac

__all__ = ["config", "switch"]
ONE, TWO, NOWHERE = "2001:db8:1::11", "2001:db8:2::22", "2001:db8:3::33"


@pytest.fixture
async def api(switch: SwitchProcess, config: Path, tmp_path: Path) -> AsyncIterator[str]:
    """An edge that knows a host at each of its two ports."""
    address = f"unix:{config.parent}/api"
    async with asyncio.timeout(PATIENCE), hosts(tmp_path) as (one, two):
        switch.start()
        with up(config) as running:
            await asyncio.to_thread(running.logs, "switch.up")
            await one.ping(str(two.address))
            yield address


async def traced(api: str, *words: str) -> Any:
    """What the command prints for programs."""
    done = await asyncio.to_thread(wayname, "--api", api, "trace", *words, "--json")
    assert (done.returncode, done.stderr) == (0, ""), done
    return json.loads(done.stdout)


async def test_a_packet_that_is_routed(api: str) -> None:
    trace = await traced(api, ONE, TWO, "--tcp", "443")
    assert (trace["port"], trace["port_name"]) == (1, "h1")
    assert {"routes", "neighbours"} <= {each["table"] for each in trace["tables"]}
    (routes,) = (each for each in trace["tables"] if each["table"] == "routes")
    assert routes["hit"]
    assert routes["key"] == {"destination": TWO}
    (members,) = (each for each in trace["tables"] if each["table"] == "vlan_members")
    assert members["key"] == {"port": 1, "vlan": 10}
    (left,) = (each for each in trace["outcomes"] if each["copy_of_packet"] == 0)
    assert (left["what"], left["port"], left["port_name"]) == ("sent", 2, "h2")
    # By its name, its number or a host there, the port is the same.
    for port in ("h1", "1", ONE):
        assert (await traced(api, ONE, TWO, "--in-port", port))["port"] == 1


async def test_a_packet_that_is_dropped_says_why(api: str) -> None:
    trace = await traced(api, ONE, NOWHERE, "--udp", "53")
    (ended,) = (each for each in trace["outcomes"] if each["copy_of_packet"] == 0)
    assert ended["what"] == "dropped"
    assert ended["reason"]
    told = await asyncio.to_thread(wayname, "--api", api, "trace", ONE, NOWHERE, "--udp", "53")
    assert f"the packet was dropped: {ended['why']} (drop reason {ended['reason']})" in told.stdout


async def test_secrets_are_hidden(api: str) -> None:
    trace = await traced(api, ONE, TWO)
    (keys,) = (each for each in trace["tables"] if each["table"] == "hash_keys")
    assert set(keys["arguments"].values()) == {"..."}


async def test_it_is_told_in_words(api: str) -> None:
    done = await asyncio.to_thread(wayname, "--api", api, "trace", ONE, TWO)
    lines = done.stdout.splitlines()
    assert lines[0] == "came in by h1 (1)"
    assert any(line.split()[:2] == ["ingress", "routes"] for line in lines)
    assert "the packet left by h2 (2)" in lines


async def test_what_is_asked_wrongly_is_one_line(api: str) -> None:
    def line(*words: str, status: int = 1) -> str:
        return fails(wayname("--api", api, "trace", *words), status)

    assert await asyncio.to_thread(line, ONE, TWO, "--in-port", "lost") == (
        "No such port: 'lost' is not in the configuration; the ports are h1 (1), h2 (2)"
    )
    assert "name the port that its packets come in by" in await asyncio.to_thread(line, NOWHERE, TWO)
    for host in ("nobody.invalid", "10.0.0.1"):
        said = f"{host} is no IPv6 address, and no name of one: `wayname hosts` lists addresses"
        assert await asyncio.to_thread(line, host, TWO) == said
    assert "have it ping its router" in await asyncio.to_thread(line, ONE, TWO, "--in-port", NOWHERE)
    assert "give one of them" in line(ONE, TWO, "--tcp", "1", "--udp", "1", status=2)


def test_keepalives_between_the_same_hosts_are_not_taken_for_it() -> None:
    wish = TraceWish.model_validate({"source": ONE, "destination": TWO})
    payload = Frame(Mac(0x02_00_00_00_00_FE), Mac(0x02_00_00_00_00_01), TYPE_IPV6, packet_of(wish).encode()).encode()
    schema = program_of(SwitchConfig(address="unix:/nowhere"))
    switch = Switch(schema.p4blob.decode(), cpu_port=CPU_PORT)
    switch.watch(only(SubmitPacket(payload, 1)))
    messages = Messages(schema)
    for kind in (PacketOutKind.KEEPALIVE, PacketOutKind.CHECK):
        switch.packet_out(messages.packet_out(PacketOut(payload, kind)).packet.SerializeToString())
    assert switch.traces() == []
    switch.packet_out(messages.packet_out(PacketOut(payload, PacketOutKind.SUBMIT, port=1)).packet.SerializeToString())
    assert len(switch.traces()) == 1


async def test_a_switch_without_traces_is_known() -> None:
    """BMv2 serves P4Runtime and nothing beside it."""
    server = grpc.aio.server()
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()

    async def submit() -> None:
        raise AssertionError("a packet was sent that nobody follows")

    try:
        with pytest.raises(NoTracesError):
            await trace_packet(SwitchConfig(address=f"127.0.0.1:{port}"), "", submit)
    finally:
        await server.stop(None)
