"""Builders for the tables of what packets carry: segments, traces, source routes, locators."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Address, IPv6Network

import finsy as fy

from wayname.config.encapsulation.compression import MOST_MIDDLE, Compressed
from wayname.config.encapsulation.model import (
    Behaviour,
    Encapsulation,
    HmacForm,
    IoamNamespace,
    IoamTrace,
    LocalSid,
    Mode,
)
from wayname.p4_constants import (
    HOPS_CHECKED,
    PROVEN_LIST_BITS,
    SEGMENT_LIST_EXTENSIONS,
    SEGMENTS_OF_POLICY,
    EncapsulationMode,
)
from wayname.pipeline.entries import prefix_keys, table_entry
from wayname.wire.segments import ProvenSegments

# Tables by number: of a policy's further segments, and of each address of a source route.
EXTENSIONS = tuple(f"segment_list_extension_{number}" for number in range(1, SEGMENT_LIST_EXTENSIONS + 1))
OWN_HOPS = tuple(f"own_hops_{number}" for number in range(1, HOPS_CHECKED + 1))
MOST_PROVEN_OCTETS = PROVEN_LIST_BITS // 8
_MODES = {
    Mode.INLINE: EncapsulationMode.INLINE,
    Mode.TUNNEL: EncapsulationMode.TUNNEL,
    Mode.AUTOMATIC: EncapsulationMode.AUTO,
    Mode.REDUCED: EncapsulationMode.TUNNEL_REDUCED,
    Mode.FRAME: EncapsulationMode.FRAME,
    Mode.FRAME_REDUCED: EncapsulationMode.FRAME_REDUCED,
}

_FOUR = ("first", "second", "third", "fourth")


def policy(number: int, source: IPv6Address, segments: Sequence[IPv6Address], proven: bool) -> list[fy.P4TableEntry]:
    """A policy's entries: one to four segments in its own, the others in lists of four."""
    own = (len(segments) - 1) % SEGMENTS_OF_POLICY + 1
    fours = [segments[at : at + SEGMENTS_OF_POLICY] for at in range(own, len(segments), SEGMENTS_OF_POLICY)]
    entry = table_entry(
        "sr_policies",
        {"policy": number},
        f"push_segments_{own}",
        source=int(source),
        extensions=len(fours),
        hmac=int(proven),
        **_addresses(segments[:own]),
    )
    lists = [
        table_entry(
            f"segment_list_extension_{index}", {"policy": number}, f"push_extension_{index}", **_addresses(four)
        )
        for index, four in enumerate(fours, 1)
    ]
    return [entry, *lists]


def _addresses(segments: Sequence[IPv6Address]) -> dict[str, int]:
    return {name: int(segment) for name, segment in zip(_FOUR, segments, strict=False)}


def proof(number: int, key_id: int, hmac: bytes, form: HmacForm) -> fy.P4TableEntry:
    """What proves a policy."""
    action = "push_linux_hmac" if form is HmacForm.LINUX else "push_hmac"
    return table_entry("hmacs", {"policy": number}, action, key=key_id, hmac=int.from_bytes(hmac))


def trace(number: int, trace: IoamTrace) -> fy.P4TableEntry:
    """A trace that packets get, or a wish for direct export."""
    keys: dict[str, int | tuple[int, int]] = {"trace": number}
    share = {"packets": trace.packets, "of": trace.of}
    kind = {"namespace": trace.namespace, "type": trace.type}
    if trace.direct_export:
        return table_entry("ioam_traces", keys, "push_direct_export", **kind, flow=trace.flow, **share)
    flags = trace.loopback << 2 | trace.active << 1
    room = {"node_length": trace.node_length, "words": trace.words}
    return table_entry("ioam_traces", keys, "push_trace", **kind, **room, flags=flags, **share)


def namespace(port: int, known: IoamNamespace, epoch: int) -> fy.P4TableEntry:
    """What this node writes into traces that come by a port; the epoch is POSIX, in microseconds."""
    return table_entry(
        "ioam_namespaces",
        {"port": port, "namespace": known.number},
        "set_namespace",
        node=known.node,
        node_wide=known.node_wide,
        data=known.data,
        data_wide=known.data_wide,
        schema=known.schema,
        snapshot=known.snapshot,
        epoch=epoch,
    )


def export_rule(port: int, number: int, node: int, data: int, epoch: int) -> fy.P4TableEntry:
    """What this node exports of packets that come by a port and ask for it."""
    keys: dict[str, int | tuple[int, int]] = {"port": port, "namespace": number}
    return table_entry("export_rules", keys, "export_directly", node=node, data=data, epoch=epoch)


def source_route(number: int, first: IPv6Address, hops: int, compressed: Compressed) -> fy.P4TableEntry:
    """A list of hops; the last of so many addresses in the header is the packet's destination."""
    return table_entry(
        "source_route_hops",
        {"source_route": number},
        "push_source_route",
        first=int(first),
        prefix_left_out=compressed.left_out,
        last_prefix_left_out=compressed.last_left_out,
        hops=hops,
        middle=len(compressed.middle),
        addresses=int.from_bytes(compressed.middle.ljust(MOST_MIDDLE, b"\0")),
    )


def segment(segment: LocalSid, nexthop: int, policy: int) -> fy.P4TableEntry:
    """A segment, tunnel end or source route hop of this node; numbers that it does not use are 0."""
    arguments: dict[str, int] = {}
    match segment.behaviour:
        case Behaviour.END:
            arguments = {"flavours": segment.flavours}
        case Behaviour.END_X:
            arguments = {"flavours": segment.flavours, "nexthop": nexthop}
        case Behaviour.END_T:
            arguments = {"flavours": segment.flavours, "vrf": segment.route_table}
        case Behaviour.END_B6_ENCAPS:
            mode = EncapsulationMode.TUNNEL_REDUCED if segment.reduced else EncapsulationMode.TUNNEL
            arguments = {"flavours": segment.flavours, "mode": int(mode), "policy": policy}
        case Behaviour.END_DX6 | Behaviour.END_DX4:
            arguments = {"nexthop": nexthop}
        case Behaviour.END_DT6 | Behaviour.END_DT4 | Behaviour.END_DT46:
            arguments = {"vrf": segment.route_table}
        case Behaviour.END_DX2:
            arguments = {"port": segment.port}
    action = segment.behaviour.replace(".", "_").replace("-", "_")
    return table_entry("sids", prefix_keys("destination", segment.prefix), action, **arguments)


def own_hop(table: str, prefix: IPv6Network) -> fy.P4TableEntry:
    """An address or hop of the router, for one address of a source route."""
    return table_entry(table, prefix_keys("address", prefix), "own_hop")


def hmac_rule(segment: LocalSid) -> fy.P4TableEntry:
    """What a segment asks of the lists that lead to it."""
    return table_entry("hmac_rules", prefix_keys("destination", segment.prefix), f"{segment.hmac}_hmac")


def verified_segments(source: IPv6Address, proven: ProvenSegments, idle: float) -> fy.P4TableEntry:
    """A list whose HMAC is right; the switch says when nothing went along it for as long as `idle`."""
    keys: dict[str, int | tuple[int, int]] = {
        "source": int(source),
        "last_entry": proven.last_entry,
        "flags": proven.flags,
        "segments": int.from_bytes(proven.segments.ljust(MOST_PROVEN_OCTETS, b"\0")),
        "proof": int.from_bytes(proven.tlv),
    }
    entry = table_entry("verified_segments", keys, "verified")
    entry.idle_timeout_ns = int(idle * 1e9)
    return entry


def table_route(table: int, prefix: IPv6Network | IPv4Network, action: str, **arguments: int) -> fy.P4TableEntry:
    """A route of a table that segments name."""
    name = "ipv4_vrf_routes" if isinstance(prefix, IPv4Network) else "vrf_routes"
    return table_entry(name, {"vrf": table, **prefix_keys("destination", prefix)}, action, **arguments)


def encapsulation(carried: Encapsulation, policy: int, trace: int, source_route: int) -> fy.P4TableEntry:
    """What the packets to a prefix carry; numbers of what they do not carry are 0."""
    keys = prefix_keys("destination", carried.prefix)
    if carried.locator is not None:
        locator = {"locator": carried.locator, "neutral": int(carried.neutral)}
        return table_entry("encapsulations", keys, "ila_translate", **locator)
    if policy:
        arguments = {"mode": int(_MODES[carried.mode]), "policy": policy, "trace": trace}
        return table_entry("encapsulations", keys, "encapsulate_segments", **arguments)
    if source_route:
        arguments = {"source_route": source_route, "trace": trace}
        return table_entry("encapsulations", keys, "encapsulate_source_route", **arguments)
    if trace:
        ends = {"source": int(carried.source or 0), "destination": int(carried.to or 0)}
        arguments = {"mode": int(_MODES[carried.mode]), "trace": trace, **ends}
        return table_entry("encapsulations", keys, "encapsulate_trace", **arguments)
    return nothing(carried.prefix)


def nothing(prefix: IPv6Network) -> fy.P4TableEntry:
    """A prefix whose packets carry nothing, whatever a shorter one says."""
    return table_entry("encapsulations", prefix_keys("destination", prefix), "no_encapsulation")
