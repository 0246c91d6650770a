"""Exercise 1: the entries of a switch that bridges. docs/exercises/1-first-table-entry.md says what is missing."""

import finsy as fy

Entry = fy.P4TableEntry | fy.P4MulticastGroupEntry

VLAN = 10


def entries() -> list[Entry]:
    """Return what is written to the switch."""
    return [
        fy.P4TableEntry("ports", match=fy.Match(port=1), action=fy.Action("set_port_vlan", vlan=VLAN)),
    ]
