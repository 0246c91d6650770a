"""What tests look at in a lab on the virtual clock: what controllers told, and what their switches hold."""

from __future__ import annotations

import finsy as fy
from finsy.p4entity import decode_entity

from wayname_lab.virtual.lab import VirtualLab

Entries = list[dict[str, int]]


def kinds(lab: VirtualLab, router: str, since: float = 0.0) -> list[str]:
    """Return the kinds of a router's events after a moment."""
    return [event.kind for whose, event in lab.events if whose == router and event.time > since]


def entries(lab: VirtualLab, router: str, table: str) -> Entries:
    """Return keys and arguments of a table's entries on a switch."""
    switch = lab.switches[router]
    found = [decode_entity(entity, switch.schema) for entity in switch.entities([fy.P4TableEntry(table)])]
    return [
        {**{f"key_{key}": value for key, value in (each.match or {}).items()}, **each.action.args}
        for each in found
        if isinstance(each, fy.P4TableEntry) and isinstance(each.action, fy.P4TableAction)
    ]
