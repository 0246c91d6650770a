"""What digests say, as inputs of the edge."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv6Address

from finsy import P4DigestList

from wayname.edge.boundary import (
    DirectExport,
    FlowAdmitted,
    FlowEvent,
    Input,
    LearnedMac,
    PairActive,
    PathEvent,
    SessionEvent,
)
from wayname.p4_constants import FlowEventKind, PathEventKind, SessionEventKind
from wayname.pipeline.schedules import bandwidth_of
from wayname.pipeline.sessions import MICROSECONDS
from wayname.wire.flow import Flow


def told(digest: P4DigestList) -> list[Input]:
    """Return what the members of a digest say."""
    match digest.digest_id:
        case "direct_export":
            return [DirectExport(**member) for member in digest]
        case "session_events":
            return [
                SessionEvent(
                    SessionEventKind(member["kind"]),
                    member["session"],
                    member["path_from"],
                    member["path_to"],
                    member["age"] / MICROSECONDS,
                )
                for member in digest
            ]
        case "ilnp_flow":
            return [
                FlowAdmitted(
                    IPv6Address(member["local"]),
                    IPv6Address(member["remote"]),
                    member["nonce_to_peer"].to_bytes(member["nonce_octets"]),
                    member["nonce_from_peer"].to_bytes(member["nonce_octets"]),
                    bool(member["opened_here"]),
                )
                for member in digest
            ]
        case "pair_active":
            return [
                PairActive(
                    IPv6Address(member["source"]),
                    IPv6Address(member["destination"]),
                    member["bytes"],
                    member["age"] / MICROSECONDS,
                    bool(member["opened_here"]),
                )
                for member in digest
            ]
        case "flow_events":
            return [_flow_event(member) for member in digest]
        case "path_events":
            return [_path_event(member) for member in digest]
    return [LearnedMac(member["port"], member["vlan"], member["source"]) for member in digest]


def _flow_event(member: Mapping[str, int]) -> FlowEvent:
    flow = Flow(
        IPv6Address(member["local"]),
        IPv6Address(member["remote"]),
        member["next_header"],
        member["local_port"],
        member["remote_port"],
    )
    nonce = member["nonce"].to_bytes(member["nonce_octets"]) if member["nonce_octets"] else b""
    return FlowEvent(FlowEventKind(member["kind"]), member["provider_from"], member["provider_to"], flow, nonce)


def _path_event(member: Mapping[str, int]) -> PathEvent:
    late = member["late"] - (1 << 32) * (member["late"] >> 31)
    return PathEvent(
        PathEventKind(member["kind"]),
        member["schedule"],
        member["session"],
        member["slot"],
        member["path"],
        late / MICROSECONDS,
        member["delay"] / MICROSECONDS,
        bandwidth_of(member["inverse_rate"]),
        member["packets"],
        member["lost"],
        member["marked"],
        member["queue"] / MICROSECONDS if member["queue"] else None,
    )
