"""Entries of the tables by which flows take a path of their own within a session (docs/sessions.md)."""

from __future__ import annotations

import finsy as fy

from wayname.config.path_policies import PathPolicy
from wayname.pipeline.entries import table_entry

ALL_OF_PROTOCOL = 0xFF
ALL_OF_DSCP = 0x3F
ALL_PORTS = (0, 0xFFFF)


def path_policy(number: int, priority: int, policy: PathPolicy) -> fy.P4TableEntry:
    """Flows that may have a path of their own; of those that match, the highest priority counts."""
    keys: dict[str, int | tuple[int, int]] = {}
    for key, prefix in (("local", policy.local), ("remote", policy.remote)):
        if prefix is not None and prefix.prefixlen:
            keys[key] = (int(prefix.network_address), int(prefix.netmask))
    if policy.protocol is not None:
        keys["next_header"] = (policy.protocol, ALL_OF_PROTOCOL)
    for key, ports in (("local_port", policy.local_ports), ("remote_port", policy.remote_ports)):
        if ports is not None and ports != ALL_PORTS:
            keys[key] = ports
    if policy.dscp is not None:
        keys["dscp"] = (policy.dscp, ALL_OF_DSCP)
    entry = table_entry("path_policies", keys, "apply_path_policy", number=number)
    entry.priority = priority
    return entry


def replicated_flow(session: int, policy: int, copies: int) -> fy.P4TableEntry:
    """In how many copies each packet of a policy's flows goes in a session that has a schedule."""
    return table_entry("preferred_paths", {"session": session, "policy": policy}, "replicate_flow", copies=copies)


def preferred_path(session: int, policy: int, path: int) -> fy.P4TableEntry:
    """The path of a policy's flows in a session."""
    return table_entry("preferred_paths", {"session": session, "policy": policy}, "prefer_path", path=path)
