"""Entries as P4Runtime messages."""

from __future__ import annotations

from collections.abc import Sequence

import finsy as fy
from finsy.p4schema import P4Schema
from finsy.proto import p4r

from bench.encap.points import IN_PORT, OUT_PORT, Point, site_entries
from harness.switches import P4INFO
from small_site import CPU, CPU_SESSION, GROUPS


def write_request(points: Sequence[Point], seed: int) -> p4r.WriteRequest:
    """All that a switch needs to forward these points' packets."""
    schema = P4Schema(P4INFO)
    entities = [
        # Only to ports that the switch has: it refuses others.
        *(
            fy.P4MulticastGroupEntry(group, replicas=sorted({IN_PORT, OUT_PORT}.intersection(ports)))
            for group, ports in GROUPS.items()
        ),
        fy.P4CloneSessionEntry(CPU_SESSION, replicas=[CPU]),
        *(
            fy.P4TableEntry(
                entry.table, match=fy.Match(**entry.keys), action=fy.Action(entry.action, **entry.parameters)
            )
            for entry in site_entries(points, seed)
        ),
    ]
    updates = [p4r.Update(type=p4r.Update.INSERT, entity=entity.encode(schema)) for entity in entities]
    return p4r.WriteRequest(device_id=1, updates=updates)
