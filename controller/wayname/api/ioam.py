"""What traces and direct exports told of paths."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Annotated

from fastapi import FastAPI, Query
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from wayname.api.roles import READ
from wayname.api.streams import TOO_MANY, Streams
from wayname.config.encapsulation.model import FIELD_BITS, IoamNamespace, IoamTrace
from wayname.ioam.collector import Record
from wayname.ioam.path_metrics import FlowMetrics, PathMetrics, Summary
from wayname.snapshot.running import Running
from wayname.snapshot.switch_snapshot import SwitchSnapshot, read_snapshot

# How often a follower looks for new records: they come by hundreds, so nobody is waked for each.
LOOK_SECONDS = 0.2
TABLES = ("ioam_traces", "ioam_namespaces", "export_rules")


class Values(BaseModel):
    """A value that was seen again and again."""

    last: int = Field(description="the last value")
    least: int = Field(description="the least value so far")
    most: int = Field(description="the greatest value so far")
    smoothed: float = Field(description="smoothed value: each new one counts for an eighth")
    count: int = Field(description="how many values there were")


class PathNode(BaseModel):
    """A node on a path."""

    node: int = Field(description="IOAM node number")
    ingress: int | None = Field(description="the port that packets last came by")
    egress: int | None = Field(description="the port that packets last left by")
    delay: Values | None = Field(description="nanoseconds in the node")
    queue: Values | None = Field(description="packets in its queue")


class PathTelemetry(BaseModel):
    """A path and its figures."""

    id: str = Field(description="name of the path: namespace, and its nodes with their ports")
    namespace: int = Field(description="IOAM namespace")
    complete: bool = Field(description="false: the trace had no room for all nodes")
    first: str = Field(description="when the first trace came; UTC, ISO 8601")
    last: str = Field(description="when the last trace came; UTC, ISO 8601")
    count: int = Field(description="ioam_traces")
    delay: Values | None = Field(description="nanoseconds from the first node to the last one, by their clocks")
    jitter: float | None = Field(description="nanoseconds that the delay changes from packet to packet (RFC 3550)")
    inside: Values | None = Field(description="nanoseconds inside the nodes altogether")
    queue: Values | None = Field(description="packets in the longest queue")
    nodes: list[PathNode] = Field(description="nodes that wrote into the trace, the first one first")


class ExportedFlow(BaseModel):
    """Packets that asked for direct export, as a node saw them."""

    namespace: int = Field(description="IOAM namespace")
    flow: int = Field(description="flow number of the direct export option (RFC 9326)")
    node: int = Field(description="IOAM node that exported")
    first: str = Field(description="when its first packet was seen; UTC, ISO 8601")
    last: str = Field(description="when its last packet was seen; UTC, ISO 8601")
    seen: int = Field(description="packets that the node exported")
    expected: int = Field(description="by the sequence numbers between the lowest and the highest")
    lost: int = Field(description="on the way to this node, or left out by the switch for their rate")
    restarts: int = Field(description="how often the sequence numbers began anew")
    hop_limit: int = Field(description="hop limit of the last packet at the node")
    ingress: int = Field(description="port that the last packet came by")
    egress: int = Field(description="port that it left by")


class ConfiguredTrace(BaseModel):
    """A trace that packets get."""

    name: str = Field(description="name of the trace in the configuration")
    namespace: int = Field(description="IOAM namespace")
    fields: list[str] = Field(description="what each node is to write")
    octets: int = Field(description="room for what nodes write, in octets")
    share: str = Field(description="which packets get it: 1/10 is one of ten")
    kind: str = Field(description="trace, direct export, loopback or probe")
    packets: int | None = Field(description="that got it or were counted for it; none while the switch is not there")


class KnownNamespace(BaseModel):
    """What this node says of itself in a namespace."""

    id: int = Field(description="IOAM namespace")
    node: int = Field(description="number of this node there, 24 bits")
    node_wide: int = Field(description="its wide number, 56 bits")
    ports: list[int] = Field(description="ports that packets of the namespace may come by")
    export: bool = Field(description="whether direct exports are made for it")
    traces: int | None = Field(description="packets with a trace that this node wrote into, or could have")
    exports: int | None = Field(description="direct exports that this node made; null while the switch is not there")


class TraceNode(BaseModel):
    """What a node wrote into a trace; what it did not is left out."""

    hop_limit: int | None = Field(description="hop limit of the packet at the node")
    node: int | None = Field(description="IOAM node number, 24 bits")
    node_wide: int | None = Field(description="IOAM node number, 56 bits")
    ingress: int | None = Field(description="port that the packet came by")
    egress: int | None = Field(description="port that it left by")
    time: int | None = Field(description="POSIX, in microseconds")
    delay: int | None = Field(description="nanoseconds that the packet was in the node")
    data: int | None = Field(description="data of the node's namespace, 32 bits")
    data_wide: int | None = Field(description="data of the node's namespace, 64 bits")
    queue: int | None = Field(description="packets in the queue that it waited in")
    schema_: int | None = Field(
        serialization_alias="schema", description="number of the schema of the opaque state snapshot"
    )
    snapshot: str = Field(description="opaque state snapshot, in hexadecimal")


class TraceRecord(BaseModel):
    """A trace as it came."""

    sequence: int = Field(description="number of the trace, one more each time")
    time: str = Field(description="when it came; UTC, ISO 8601")
    path: str = Field(description="name of the path, as in `/v1/ioam/paths`")
    source: str = Field(description="IPv6 source of the packet")
    destination: str = Field(description="IPv6 destination of the packet")
    type: int = Field(description="trace type: a bit for each field that nodes write (RFC 9197)")
    flags: int = Field(description="flags of the trace option")
    nodes: list[TraceNode] = Field(description="what the nodes wrote, the first one first")


def serve_ioam(app: FastAPI, running: Running, streams: Streams) -> None:
    """Serve what is known of paths, and what is configured to know it."""
    carrying = running.edge.encapsulation
    collector = carrying.traces.collector

    def when(time: float) -> str:
        return (
            datetime.fromtimestamp(carrying.epoch + time, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        )

    @app.get("/v1/ioam/paths", openapi_extra=READ)
    async def paths() -> list[PathTelemetry]:
        """Paths that packets took, by the nodes that wrote into their traces."""
        return [path(figures, when(figures.first), when(figures.last)) for figures in collector.paths()]

    @app.get("/v1/ioam/exports", openapi_extra=READ)
    async def exports() -> list[ExportedFlow]:
        """Flows of packets that asked for direct export, and what is missing of them."""
        return [flow(figures, when(figures.first), when(figures.last)) for figures in collector.flows()]

    @app.get("/v1/ioam/traces", openapi_extra=READ)
    async def traces() -> list[ConfiguredTrace]:
        """Traces that packets get here."""
        switch_snapshot = await read_snapshot(running, TABLES) if running.connected else None
        return [trace(each, carrying.trace_number(each.name), switch_snapshot) for each in carrying.current.traces]

    @app.get("/v1/ioam/namespaces", openapi_extra=READ)
    async def namespaces() -> list[KnownNamespace]:
        """Namespaces that this node knows."""
        switch_snapshot = await read_snapshot(running, TABLES) if running.connected else None
        return [namespace(each, switch_snapshot) for each in carrying.current.namespaces]

    @app.get("/v1/ioam/records", openapi_extra=READ, response_model=list[TraceRecord], responses=TOO_MANY)
    async def records(
        since: Annotated[int, Query(ge=0, description="only records behind this number")] = 0,
        follow: Annotated[bool, Query(description="go on with new ones, one JSON object a line")] = False,
    ) -> StreamingResponse | list[TraceRecord]:
        """The last traces that ended here, each as it came."""
        behind = since if since <= collector.last else 0
        if not follow:
            return [record(each, when(each.time)) for each in collector.records(behind)]

        async def lines() -> AsyncIterator[str]:
            number = behind
            while not streams.end.is_set():
                for each in collector.records(number):
                    number = each.sequence
                    yield record(each, when(each.time)).model_dump_json(by_alias=True) + "\n"
                try:
                    async with asyncio.timeout(LOOK_SECONDS):
                        await streams.end.wait()
                except TimeoutError:
                    continue

        return streams.response(lines(), "application/jsonl")


def values(summary: Summary) -> Values | None:
    """A summary, if it has something."""
    if not summary.count:
        return None
    return Values(
        last=summary.last, least=summary.least, most=summary.most, smoothed=summary.smoothed, count=summary.count
    )


def path(figures: PathMetrics, first: str, last: str) -> PathTelemetry:
    """A path's figures."""
    return PathTelemetry(
        id=str(figures.id),
        namespace=figures.id.namespace,
        complete=figures.id.complete,
        first=first,
        last=last,
        count=figures.count,
        delay=values(figures.delay),
        jitter=figures.jitter if figures.delay.count > 1 else None,
        inside=values(figures.inside),
        queue=values(figures.queue),
        nodes=[
            PathNode(
                node=node.node,
                ingress=node.ingress,
                egress=node.egress,
                delay=values(node.delay),
                queue=values(node.queue),
            )
            for node in figures.nodes
        ],
    )


def flow(figures: FlowMetrics, first: str, last: str) -> ExportedFlow:
    """A flow's figures."""
    return ExportedFlow(
        namespace=figures.namespace,
        flow=figures.flow,
        node=figures.node,
        first=first,
        last=last,
        seen=figures.seen,
        expected=figures.expected,
        lost=figures.lost,
        restarts=figures.restarts,
        hop_limit=figures.hop_limit,
        ingress=figures.ingress,
        egress=figures.egress,
    )


def trace(each: IoamTrace, number: int, switch_snapshot: SwitchSnapshot | None) -> ConfiguredTrace:
    """A trace with how often it was used."""
    kind = (
        "direct export" if each.direct_export else "loopback" if each.loopback else "probe" if each.active else "trace"
    )
    names = {bit: name for name, bit in FIELD_BITS.items()}
    return ConfiguredTrace(
        name=each.name,
        namespace=each.namespace,
        fields=[names.get(bit, f"bit {bit}") for bit in range(23) if each.type >> 23 - bit & 1],
        octets=4 * each.words,
        share=f"{each.packets}/{each.of}",
        kind=kind,
        packets=counted(switch_snapshot, "ioam_traces", "trace", number),
    )


def namespace(each: IoamNamespace, switch_snapshot: SwitchSnapshot | None) -> KnownNamespace:
    """A namespace with how often it was used."""
    return KnownNamespace(
        id=each.number,
        node=each.node,
        node_wide=each.node_wide,
        ports=list(each.ports),
        export=each.export,
        traces=counted(switch_snapshot, "ioam_namespaces", "namespace", each.number),
        exports=counted(switch_snapshot, "export_rules", "namespace", each.number),
    )


def counted(switch_snapshot: SwitchSnapshot | None, table: str, key: str, value: int) -> int | None:
    """How many packets the entries with this value in a key counted."""
    if switch_snapshot is None:
        return None
    return sum(entry.count.packets for entry in switch_snapshot.tables[table] if entry.match[key] == value)


def record(each: Record, time: str) -> TraceRecord:
    """A trace as it came."""
    return TraceRecord(
        sequence=each.sequence,
        time=time,
        path=str(each.path),
        source=str(each.source),
        destination=str(each.destination),
        type=each.type,
        flags=each.flags,
        nodes=[
            TraceNode(
                hop_limit=node.hop_limit,
                node=node.node,
                node_wide=node.node_wide,
                ingress=node.ingress,
                egress=node.egress,
                time=node.time,
                delay=node.delay,
                data=node.data,
                data_wide=node.data_wide,
                queue=node.queue,
                schema_=node.schema,
                snapshot=node.snapshot.hex(),
            )
            for node in each.nodes
        ],
    )
