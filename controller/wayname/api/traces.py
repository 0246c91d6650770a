"""What becomes of a packet: it is submitted as if it had come by a port, and followed through the tables."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from ipaddress import IPv6Address
from typing import Annotated, Any, Literal

import finsy as fy
from fastapi import FastAPI
from pydantic import BaseModel, Field

from wayname.adapter.packet_traces import NoTraceError, NoTracesError, trace_packet
from wayname.api.problems import ApiError, Problem
from wayname.api.roles import OPERATE
from wayname.api.views import port_called, port_name
from wayname.config.model import Config, LinkAddress, Port
from wayname.edge.boundary import SeekNeighbour, SubmitPacket
from wayname.p4_constants import CPU_PORT, PacketOutKind
from wayname.pipeline.entries import SECRETS
from wayname.pipeline.reasons import drop_words
from wayname.session.answers import SessionAnswer
from wayname.snapshot.running import Running
from wayname.snapshot.switch_snapshot import HIDDEN, Value, in_notation
from wayname.wire import icmpv6, ipv6
from wayname.wire.ethernet import TYPE_IPV6, Frame, Tag
from wayname.wire.mac import Mac
from wayname.wire.tcp import SYN, Segment
from wayname.wire.udp import Datagram

DROP_COUNTERS = ("ingress_drops", "egress_drops")
# Seconds. A router asks three times, once a second, and gives a neighbour up a second later (RFC 4861, section 7.2.2).
GIVEN_UP_WITHIN = 5.0
# Arguments of `set_hash_keys`: no table shows them, since they are of a default action.
HASH_KEYS = frozenset({"slots", "nonces"})

TransportPort = Annotated[int, Field(ge=1, le=65535)]


class TraceWish(BaseModel):
    """The packet to follow: an IPv6 packet of a host, without data."""

    source: IPv6Address = Field(description="source address of the packet", examples=["2001:db8:1::11"])
    destination: IPv6Address = Field(description="destination address of the packet", examples=["2001:db8:2::22"])
    port: str | None = Field(
        None,
        description="port that it comes in by: its name, its number, or a host there; none: where its source is",
        examples=["site"],
    )
    protocol: Literal["icmp", "tcp", "udp"] = Field(
        "icmp", description="what it carries: an echo request, a TCP SYN, or an empty UDP datagram"
    )
    source_port: TransportPort = Field(49152, description="TCP or UDP source port")
    destination_port: TransportPort = Field(443, description="TCP or UDP destination port")
    hop_limit: int = Field(64, ge=0, le=255, description="hop limit of the packet as it comes in")


class TableLookup(BaseModel):
    """A table that the packet met."""

    copy_of_packet: int = Field(description="0 is the packet itself, others are copies that the pipeline made of it")
    block: str = Field(description="ingress or egress")
    table: str = Field(description="name of the table")
    key: dict[str, Value] = Field(description="what was looked up: value of each key field")
    hit: bool = Field(description="whether an entry matched")
    action: str = Field(description="action of the entry that matched; else the default action")
    arguments: dict[str, Value] = Field(description="arguments of the action")


class Outcome(BaseModel):
    """Where the packet, or a copy of it, ended."""

    copy_of_packet: int = Field(description="0 is the packet itself, others are copies that the pipeline made of it")
    what: Literal["sent", "to controller", "dropped", "lost"] = Field(
        description="sent by a port, punted to the controller, dropped by the pipeline, or lost by the port"
    )
    port: int | None = Field(description="egress port; none where it was dropped")
    port_name: str | None = Field(description="name of the egress port")
    reason: int | None = Field(
        description="number of the drop reason; none where it was not dropped, or where the controller has it"
    )
    why: str | None = Field(description="the drop reason, or why the port did not take it, in words")


class PacketWay(BaseModel):
    """What became of a packet, and why."""

    port: int = Field(description="switch port that the packet came in by")
    port_name: str = Field(description="name of that port")
    tables: list[TableLookup] = Field(description="tables that it met, in their order")
    outcomes: list[Outcome] = Field(description="where it and its copies ended")


class PacketTrace(PacketWay):
    """What became of the packet that was submitted."""

    sent: str = Field(description="octets of the frame as it came in, in hexadecimal")
    unresolved: bool = Field(
        description="whether nobody on its link answers for the destination, so that it was sent to the router's MAC"
    )


def serve_traces(app: FastAPI, running: Running) -> None:
    """Serve it."""
    answers: dict[int | str, dict[str, Any]] = {
        404: {"model": Problem, "description": "no such port, or nobody is known behind it"},
        501: {"model": Problem, "description": "the switch has no traces"},
    }

    @app.post("/v1/trace", openapi_extra=OPERATE, responses=answers)
    async def trace(wish: TraceWish) -> PacketTrace:
        """Submit a packet as if it had come by a port, and follow it; if the tables let it out, it leaves."""
        port = await in_port(running, wish)
        unresolved = not await seek(running, wish.destination, port.vlans[:1])
        frame = frame_of(running, wish, port)
        octets = frame.encode()
        command = SubmitPacket(octets, port.number)
        told = await traced(running, only(command), lambda: running.command(command))
        return PacketTrace(
            port=port.number,
            port_name=port.name,
            sent=octets.hex(),
            unresolved=unresolved,
            tables=list(lookups(told, running.schema)),
            outcomes=outcomes(told, running.config),
        )


async def follow_packet(running: Running, session: SessionAnswer) -> PacketWay:
    """Follow the next packet that the host of a session sends to its peer."""
    told = await traced(running, f"not in {CPU_PORT} and src {session.local} and dst {session.peer}")
    port = int(told["port"])
    return PacketWay(
        port=port,
        port_name=port_name(running.config, port) or str(port),
        tables=list(lookups(told, running.schema)),
        outcomes=outcomes(told, running.config),
    )


async def traced(
    running: Running, packets: str, submit: Callable[[], Awaitable[object]] | None = None
) -> dict[str, Any]:
    """The switch's trace of the first packet that a filter chooses, or why there is none."""
    switch = running.config.switch
    if not running.connected:
        raise ApiError(503, "The switch is not there", f"nothing at {switch.address} listens to us")
    try:
        return await trace_packet(switch, packets, submit)
    except NoTracesError:
        target = f"the switch at {switch.address} is {switch.target}"
        raise ApiError(
            501, "The switch has no traces", f"{target}, and only wayname-switch traces packets; use one for this"
        ) from None
    except NoTraceError as error:
        raise ApiError(503, "No trace came", f"{error}; `wayname events` may tell why") from None


def only(command: SubmitPacket) -> str:
    """The filter for this packet of the controller: its keepalives between the same hosts go the same way.

    Before the frame a packet-out has its kind, its port and no VLAN.
    """
    return f"in {CPU_PORT} and bytes 0 {PacketOutKind.SUBMIT:02x}{command.port:04x}0000{command.payload.hex()}"


async def seek(running: Running, address: IPv6Address, vlans: Sequence[int]) -> bool:
    """Ask on a link who has an address, if it belongs there; return whether that is known, or not needed."""
    interfaces = filter(None, map(running.config.interface, vlans))
    on_link = [each for each in interfaces if each.is_on_link(address) and not each.owns(address)]
    places = [LinkAddress(each.vlan, address) for each in on_link]
    for at in places:
        if running.edge.neighbours.get(at) is not None:
            return True
        asking = await running.command(SeekNeighbour(at))
        await asking.wait()
    end = time.monotonic() + GIVEN_UP_WITHIN
    while places and time.monotonic() < end:
        asked = [each for each in running.edge.neighbours if each.at in places]
        if any(each.mac for each in asked):
            return True
        if not asked:
            return False
        await asyncio.sleep(0.05)
    return not places


async def in_port(running: Running, wish: TraceWish) -> Port:
    """The port that is named, by a host behind it too, or where the source is."""
    port = None if wish.port is None else running.config.port_called(wish.port)
    if port is not None:
        return port
    try:
        host = wish.source if wish.port is None else IPv6Address(wish.port)
    except ValueError:
        return port_called(running.config, wish.port or "")
    await seek(running, host, [each.vlan for each in running.config.interfaces])
    number = next((each.port for each in running.edge.neighbours if each.at.address == host), None)
    port = None if number is None else running.config.port(number)
    if port is None:
        detail = (
            f"nobody was heard that has {host}, nor answers for it: have it ping its router,"
            " or name the port that its packets come in by (--in-port)"
        )
        raise ApiError(404, "No such host", detail)
    return port


def frame_of(running: Running, wish: TraceWish, port: Port) -> Frame:
    """The packet in a frame as a station behind the port sends it: to who has the destination there, or the router."""
    vlan = port.vlans[0]
    router = running.config.interface(vlan)
    macs = {each.at.address: each.mac for each in running.edge.neighbours if each.at.vlan == vlan and each.mac}
    station = macs.get(wish.source) or next(
        (each.mac for each in running.edge.fdb if each.port == port.number and each.vlan == vlan), None
    )
    if station is None:
        detail = f"no station was heard behind {port.name} that could send it: have one there ping its router"
        raise ApiError(404, "No such host", detail)
    to: Mac | None = macs.get(wish.destination) or (router.mac if router else None)
    if to is None:
        raise ApiError(404, "No such host", f"VLAN {vlan} has no router, and nobody there has {wish.destination}")
    tag = None if vlan == port.vlan else Tag(vlan)
    return Frame(to, station, TYPE_IPV6, packet_of(wish).encode(), tag)


def packet_of(wish: TraceWish) -> ipv6.Packet:
    """The packet itself."""
    match wish.protocol:
        case "tcp":
            segment = Segment(wish.source_port, wish.destination_port, 0, 0, SYN, 65535)
            return segment.packet(wish.source, wish.destination, wish.hop_limit)
        case "udp":
            datagram = Datagram(wish.source_port, wish.destination_port, b"")
            return datagram.packet(wish.source, wish.destination, wish.hop_limit)
        case "icmp":
            echo = icmpv6.Message(icmpv6.ECHO_REQUEST, 0, bytes(4))
            return echo.packet(wish.source, wish.destination, wish.hop_limit)


def steps(trace: dict[str, Any]) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Yield each step with its packet and its block, in their order."""

    def inside(packet: int, block: str, found: list[dict[str, Any]]) -> Iterator[tuple[int, str, dict[str, Any]]]:
        for step in found:
            within = step["name"] if step["event"] == "block" else block
            yield packet, within, step
            yield from inside(packet, within, step.get("steps", []))

    for number, packet in enumerate(trace["packets"]):
        yield from inside(packet.get("packet", number), "", packet["steps"])


def lookups(trace: dict[str, Any], schema: fy.P4Schema) -> Iterator[TableLookup]:
    """Yield the tables that a packet and its copies met."""
    for packet, block, step in steps(trace):
        if step["event"] == "lookup":
            table = schema.tables[last_part(step["table"])]
            action = last_part(step["action"])
            widths = {each.name: each.bitwidth for each in schema.actions[action].params}
            bits = {each.alias: each.bitwidth for each in table.match_fields}
            yield TableLookup(
                copy_of_packet=packet,
                block=block,
                table=table.alias,
                key={name: shown(name, value, bits[name]) for name, value in pairs(step["keys"])},
                hit=step["hit"],
                action=action,
                arguments={name: shown(name, value, widths[name]) for name, value in pairs(step.get("args", []))},
            )


def last_part(path: str) -> str:
    """The name of a table or an action, of the path that the program has it by."""
    return path.rpartition(".")[2]


def pairs(given: Any) -> list[tuple[str, str]]:
    """Names and values of a step."""
    return list(given.items()) if isinstance(given, dict) else [(each["name"], each["value"]) for each in given]


def shown(name: str, value: str, bits: int) -> Value:
    """A value as `wayname tables` has it; nobody learns secrets by a trace."""
    return HIDDEN if name in SECRETS | HASH_KEYS else in_notation(int(value, 16), bits)


def outcomes(trace: dict[str, Any], config: Config) -> list[Outcome]:
    """Where a packet and its copies ended; what ends without a drop reason since the controller has it says so."""
    found = list(_outcomes(trace, config))
    punted = next((each.copy_of_packet for each in found if each.what == "to controller"), None)
    for each in found:
        if punted and each.what == "dropped" and each.reason is None:
            each.why = f"the controller has it, as copy {punted}"
    return found


def _outcomes(trace: dict[str, Any], config: Config) -> Iterator[Outcome]:
    """Yield where each ended; one that starts again as an ICMP error is dropped, the error sent."""
    counted: set[int] = set()
    for packet, _, step in steps(trace):
        match step["event"]:
            case "call" if str(step.get("object", "")).endswith(DROP_COUNTERS):
                counted.add(packet)
                reason = int(step["args"][0], 16)
                yield dropped(packet, reason, drop_words(reason))
            case "dropped" if packet not in counted:
                yield dropped(packet, None, step.get("why"))
            case "sent":
                number = int(step["port"])
                lost = step.get("lost")
                yield Outcome(
                    copy_of_packet=packet,
                    what="lost" if lost else "to controller" if number == CPU_PORT else "sent",
                    port=number,
                    port_name=port_name(config, number),
                    reason=None,
                    why=lost,
                )


def dropped(packet: int, reason: int | None, why: str | None) -> Outcome:
    """The outcome of what left by no port."""
    return Outcome(copy_of_packet=packet, what="dropped", port=None, port_name=None, reason=reason, why=why)
