"""Exercise 1, solved: three ports of hosts in VLAN 10, and a trunk that carries it with a tag."""

import finsy as fy

Entry = fy.P4TableEntry | fy.P4MulticastGroupEntry

VLAN = 10
HOSTS = {1: 0x02_00_00_00_00_01, 2: 0x02_00_00_00_00_02, 3: 0x02_00_00_00_00_03}
TRUNK = 4
# What comes in by a trunk without a tag is in no VLAN.
NONE = 0


def entry(table: str, action: str, keys: dict[str, int], **arguments: int) -> fy.P4TableEntry:
    """Return an entry of a table."""
    return fy.P4TableEntry(table, match=fy.Match(**keys), action=fy.Action(action, **arguments))


def entries() -> list[Entry]:
    """Return what is written to the switch."""
    found: list[Entry] = []
    for port in (*HOSTS, TRUNK):
        member = {"port": port, "vlan": VLAN}
        found.append(entry("ports", "set_port_vlan", {"port": port}, vlan=NONE if port == TRUNK else VLAN))
        found.append(entry("vlan_members", "admit_to_vlan", member))
        found.append(entry("vlan_tags", "send_tagged" if port == TRUNK else "send_untagged", member))
    for port, mac in HOSTS.items():
        found.append(entry("fdb", "send_to_port", {"vlan": VLAN, "destination": mac}, port=port))
    found.append(fy.P4MulticastGroupEntry(VLAN, replicas=(*HOSTS, TRUNK)))
    found.append(entry("flood_groups", "send_to_group", {"vlan": VLAN}, group=VLAN))
    return found
