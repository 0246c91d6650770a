"""One builder for each table, group and meter of the pipeline: domain types in, finsy's entities out.

All values are plain integers, as finsy gives them when it reads entries back, so that both forms compare equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from ipaddress import IPv4Network, IPv6Address, IPv6Network
from typing import TypeVar

import finsy as fy

from wayname.p4_constants import CPU_PORT, CPU_SESSION, ECMP_GROUP_MEMBERS_MOST
from wayname.pipeline.program import own_schema
from wayname.wire.mac import Mac

Entity = (
    fy.P4TableEntry
    | fy.P4MulticastGroupEntry
    | fy.P4CloneSessionEntry
    | fy.P4DigestEntry
    | fy.P4ActionProfileMember
    | fy.P4ActionProfileGroup
    | fy.P4MeterEntry
)

# What can be read: what is asked for is what comes.
Readable = TypeVar("Readable", bound=Entity | fy.P4CounterEntry)

MAIN_ROUTES = 0  # the table `routes`; others are numbers in `vrf_routes`

# Keys and parameters that a stranger must not know: who does can put packets into a session.
SECRETS = frozenset({"nonce", "tag"})

Keys = Mapping[str, int | tuple[int, int]]


def table_entry(table: str, keys: Keys, action: str, **arguments: int) -> fy.P4TableEntry:
    """An entry of a table, by its keys, its action and the action's arguments."""
    return fy.P4TableEntry(table, match=fy.Match(**keys), action=fy.Action(action, **arguments))


def has_secrets(entity: Entity) -> bool:
    """Whether an entity has what is shown to nobody."""
    if not isinstance(entity, fy.P4TableEntry):
        return False
    arguments = entity.action.args if isinstance(entity.action, fy.P4TableAction) else {}
    return not SECRETS.isdisjoint((*(entity.match or {}), *arguments))


def port(number: int, vlan: int) -> fy.P4TableEntry:
    """A port in use, and the VLAN of what comes in untagged; 0 is none."""
    return table_entry("ports", {"port": number}, "set_port_vlan", vlan=vlan)


def vlan_member(number: int, vlan: int) -> fy.P4TableEntry:
    """A VLAN whose packets may come in by a port."""
    return table_entry("vlan_members", {"port": number, "vlan": vlan}, "admit_to_vlan")


def vlan_tag(number: int, vlan: int, tagged: bool) -> fy.P4TableEntry:
    """A VLAN whose packets may leave by a port, and whether with a tag."""
    return table_entry("vlan_tags", {"port": number, "vlan": vlan}, "send_tagged" if tagged else "send_untagged")


def port_mtu(number: int, mtu: int) -> fy.P4TableEntry:
    """The longest IPv6 packet that may be routed to a port."""
    return table_entry("port_mtus", {"port": number}, "set_port_mtu", bytes=mtu)


def flood(vlan: int) -> fy.P4TableEntry:
    """The group of a VLAN; it has the VLAN's number."""
    return table_entry("flood_groups", {"vlan": vlan}, "send_to_group", group=vlan)


def flood_group(vlan: int, ports: Iterable[int]) -> fy.P4MulticastGroupEntry:
    """The ports of a VLAN."""
    return fy.P4MulticastGroupEntry(vlan, replicas=tuple(sorted(ports)))


def source(number: int, vlan: int, mac: Mac, idle: float) -> fy.P4TableEntry:
    """A station where it was last seen; the switch says when it was silent for so many seconds."""
    entry = table_entry("learned_macs", {"port": number, "vlan": vlan, "source": mac.value}, "known_mac")
    entry.idle_timeout_ns = int(idle * 1e9)
    return entry


def fdb_entry(vlan: int, mac: Mac, number: int) -> fy.P4TableEntry:
    """The port behind which a station is."""
    return table_entry("fdb", {"vlan": vlan, "destination": mac.value}, "send_to_port", port=number)


def interface(vlan: int, mac: Mac, address: IPv6Address) -> fy.P4TableEntry:
    """The router on a VLAN, and where its ICMPv6 errors come from."""
    return table_entry("interfaces", {"vlan": vlan}, "set_interface", mac=mac.value, address=int(address))


def source_mac(vlan: int, mac: Mac) -> fy.P4TableEntry:
    """The router's MAC on what it sends into a VLAN."""
    return table_entry("source_macs", {"vlan": vlan}, "set_source_mac", mac=mac.value)


def own_address(vlan: int, address: IPv6Address) -> fy.P4TableEntry:
    """An address of the router that neighbours on a VLAN may ask for."""
    return table_entry("own_addresses", {"vlan": vlan, "target": int(address)}, "own_address")


def prefix_keys(key: str, prefix: IPv6Network | IPv4Network) -> Keys:
    """Return a prefix as the key of longest match: one of length 0 is an absent key."""
    return {key: (int(prefix.network_address), prefix.prefixlen)} if prefix.prefixlen else {}


def _route(prefix: IPv6Network, table: int, action: str, **arguments: int) -> fy.P4TableEntry:
    keys = prefix_keys("destination", prefix)
    if table:
        return table_entry("vrf_routes", {"vrf": table, **keys}, action, **arguments)
    return table_entry("routes", keys, action, **arguments)


def route_local(address: IPv6Address, table: int = MAIN_ROUTES) -> fy.P4TableEntry:
    """An address of the router."""
    return _route(IPv6Network(address), table, "route_local")


def route_probe_source(address: IPv6Address) -> fy.P4TableEntry:
    """An address that nothing but probes of a provider come from."""
    return _route(IPv6Network(address), MAIN_ROUTES, "route_probe_source")


def route_connected(prefix: IPv6Network, vlan: int, table: int = MAIN_ROUTES) -> fy.P4TableEntry:
    """A prefix on a link of the router."""
    return _route(prefix, table, "route_connected", vlan=vlan)


def route_nexthop(prefix: IPv6Network, number: int, table: int = MAIN_ROUTES) -> fy.P4TableEntry:
    """A route by one next hop."""
    return _route(prefix, table, "route_nexthop", nexthop=number)


def route_ecmp(prefix: IPv6Network, number: int, table: int = MAIN_ROUTES) -> fy.P4TableEntry:
    """A route by several next hops."""
    return _route(prefix, table, "route_ecmp", ecmp_group=number)


def route_refused(prefix: IPv6Network, told: bool, table: int = MAIN_ROUTES) -> fy.P4TableEntry:
    """A route that leads nowhere, of which the sender is told or not."""
    return _route(prefix, table, "route_prohibited" if told else "route_discard")


def nexthop(number: int, vlan: int, address: IPv6Address) -> fy.P4TableEntry:
    """A next router."""
    return table_entry("nexthops", {"nexthop": number}, "set_nexthop", vlan=vlan, address=int(address))


def ecmp_member(nexthop: int, number: int | None = None) -> fy.P4ActionProfileMember:
    """A next hop as a member of ECMP groups; it has the next hop's number, unless it is given another."""
    action = fy.Action("set_ecmp_nexthop", nexthop=nexthop)
    return fy.P4ActionProfileMember("ecmp_members", member_id=number or nexthop, action=action)


def ecmp_group_members(number: int, weights: dict[int, int]) -> fy.P4ActionProfileGroup:
    """The next hops of an ECMP group, with their weights."""
    members = [fy.P4Member(member, weight=weight) for member, weight in sorted(weights.items())]
    return fy.P4ActionProfileGroup("ecmp_members", group_id=number, max_size=ECMP_GROUP_MEMBERS_MOST, members=members)


def ecmp_group(number: int) -> fy.P4TableEntry:
    """An ECMP group; the group of its members has its number."""
    return fy.P4TableEntry(
        "ecmp_groups", match=fy.Match(ecmp_group=number), action=fy.P4IndirectAction(group_id=number)
    )


def neighbour(vlan: int, address: IPv6Address, number: int, mac: Mac) -> fy.P4TableEntry:
    """The port and the MAC of an address on a link of the router."""
    keys = {"vlan": vlan, "address": int(address)}
    return table_entry("neighbours", {**keys}, "set_neighbour", port=number, mac=mac.value)


def capture(number: int, way: str) -> fy.P4TableEntry:
    """A port of which the controller gets copies at its `ingress` or `egress`."""
    return table_entry(f"{way}_mirror", {"port": number}, f"mirror_{way}")


def hash_keys(slots: int, nonces: int) -> fy.P4TableEntry:
    """The secrets behind slots and nonces: the default action of a table that has nothing else."""
    action = fy.Action("set_hash_keys", slots=slots, nonces=nonces)
    return fy.P4TableEntry("hash_keys", action=action, is_default_action=True)


def rate(meter: str, index: int, a_second: int) -> fy.P4MeterEntry:
    """A rate in packets a second, with as many at once."""
    config = fy.P4MeterConfig(cir=a_second, cburst=a_second, pir=a_second, pburst=a_second)
    return fy.P4MeterEntry(meter, index=index, config=config)


def copies_to_controller() -> fy.P4CloneSessionEntry:
    """The clone session by which the controller gets copies."""
    return fy.P4CloneSessionEntry(CPU_SESSION, replicas=(CPU_PORT,))


def digest(name: str) -> fy.P4DigestEntry:
    """Events are told at once, a burst of them together."""
    return fy.P4DigestEntry(name, max_list_size=64, max_timeout_ns=1_000_000, ack_timeout_ns=1_000_000_000)


def digests() -> list[str]:
    """Return the names of all that the switch tells by digests."""
    return [each.alias for each in own_schema().digests]


def everything() -> list[Entity]:
    """Return wildcards that read all that the controller writes."""
    return [
        fy.P4TableEntry(),
        fy.P4TableEntry("hash_keys", is_default_action=True),
        fy.P4MulticastGroupEntry(),
        fy.P4CloneSessionEntry(),
        fy.P4ActionProfileMember(),
        fy.P4ActionProfileGroup(),
        fy.P4MeterEntry(),
        *(fy.P4DigestEntry(name) for name in digests()),
    ]
