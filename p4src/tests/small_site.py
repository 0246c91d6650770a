"""One small edge and the packets around it, for all that tests the pipeline.

port 1, 2   VLAN 1 untagged    hosts, 2001:db8:1::/64
port 3      VLAN 1 and 20, tagged
port 4      VLAN 100 untagged  first provider
port 5      VLAN 200 untagged  second provider, MTU 1280
port 6      in no VLAN
port 510    the controller
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from p4_text import constants, numbers
from scapy.layers.inet import UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Packet, Raw

CPU, CPU_SESSION = numbers()["CPU_PORT"], numbers()["CPU_SESSION"]
PORTS = (1, 2, 3, 4, 5, 6)

HOST = {1: "02:00:00:00:00:11", 2: "02:00:00:00:00:12", 3: "02:00:00:00:00:13"}
IP_OF = {1: "2001:db8:1::11", 2: "2001:db8:1::12", 3: "2001:db8:1::13"}
ROUTER = {1: "02:ed:9e:00:00:01", 100: "02:ed:9e:00:01:00", 200: "02:ed:9e:00:02:00"}
ADDRESS = {1: "2001:db8:1::1", 100: "2001:db8:a::2", 200: "2001:db8:b::2"}
PROVIDER = {4: "02:99:00:00:00:0a", 5: "02:99:00:00:00:0b"}
FAR = "2001:db8:f00::1"  # behind the first provider
FAR_SMALL = "2001:db8:e00::1"  # behind the second

# The multicast group of each VLAN: all its ports.
GROUPS = {1: (1, 2, 3), 20: (3,), 100: (4,), 200: (5,)}


def reasons(type_name: str) -> dict[str, int]:
    """Constants of a type of the P4 text, so that tests name reasons and not numbers."""
    return {constant.name: constant.number for constant in constants(type_name)}


DROP, PUNT, CLASS = reasons("drop_reason_t"), reasons("punt_reason_t"), reasons("punt_class_t")
OUT = reasons("packet_out_kind_t")
PACKET_IN_BYTES = numbers()["PACKET_IN_BYTES"]


class Entry(NamedTuple):
    """An entry of a table, its values as people write them."""

    table: str
    keys: dict[str, int | str]
    action: str
    parameters: dict[str, int | str]


def entries() -> Iterator[Entry]:
    """What the tables hold before a test adds its own."""
    for port, untagged, tagged in ((1, 1, ()), (2, 1, ()), (3, 0, (1, 20)), (4, 100, ()), (5, 200, ())):
        yield Entry("ports", {"port": port}, "set_port_vlan", {"vlan": untagged})
        for vlan in (untagged, *tagged):
            if vlan:
                yield Entry("vlan_members", {"port": port, "vlan": vlan}, "admit_to_vlan", {})
                tags = "send_tagged" if vlan in tagged else "send_untagged"
                yield Entry("vlan_tags", {"port": port, "vlan": vlan}, tags, {})
    for vlan in GROUPS:
        yield Entry("flood_groups", {"vlan": vlan}, "send_to_group", {"group": vlan})
    for host in HOST:
        yield Entry("fdb", {"vlan": 1, "destination": HOST[host]}, "send_to_port", {"port": host})
    for vlan, mac in ROUTER.items():
        yield Entry("interfaces", {"vlan": vlan}, "set_interface", {"mac": mac, "address": ADDRESS[vlan]})
        yield Entry("source_macs", {"vlan": vlan}, "set_source_mac", {"mac": mac})
        for address in (ADDRESS[vlan], "fe80::1"):
            yield Entry("own_addresses", {"vlan": vlan, "target": address}, "own_address", {})
        yield Entry("routes", {"destination": f"{ADDRESS[vlan]}/128"}, "route_local", {})
    yield Entry("routes", {"destination": "fe80::1/128"}, "route_local", {})
    yield Entry("routes", {"destination": "2001:db8:1::/64"}, "route_connected", {"vlan": 1})
    for prefix, nexthop in (("2001:db8::/32", 1), ("2001:db8:e00::/48", 2), ("2001:db8:bad::/48", 9)):
        yield Entry("routes", {"destination": prefix}, "route_nexthop", {"nexthop": nexthop})
    yield Entry("routes", {"destination": "2001:db8:911::/48"}, "route_prohibited", {})
    yield Entry("routes", {"destination": "2001:db8:912::/48"}, "route_discard", {})
    for nexthop, vlan, address, port in ((1, 100, "fe80::a1", 4), (2, 200, "fe80::b1", 5)):
        yield Entry("nexthops", {"nexthop": nexthop}, "set_nexthop", {"vlan": vlan, "address": address})
        to_provider: dict[str, int | str] = {"port": port, "mac": PROVIDER[port]}
        yield Entry("neighbours", {"vlan": vlan, "address": address}, "set_neighbour", to_provider)
    for host in HOST:
        to_host: dict[str, int | str] = {"port": host, "mac": HOST[host]}
        yield Entry("neighbours", {"vlan": 1, "address": IP_OF[host]}, "set_neighbour", to_host)
    yield Entry("port_mtus", {"port": 5}, "set_port_mtu", {"bytes": 1280})


def from_host(packet: Packet, to: str, host: int = 1) -> Packet:
    return Ether(src=HOST[host], dst=to) / packet


def to_router(packet: Packet, host: int = 1) -> Packet:
    return from_host(packet, ROUTER[1], host)


def udp(host: int = 1, to: str = FAR, **fields: Any) -> Packet:
    return IPv6(src=IP_OF[host], dst=to, **fields) / UDP(sport=1000, dport=2000) / Raw(b"wayname")


def routed(packet: Packet, vlan: int, mac: str) -> Packet:
    """The packet one hop on: new MACs, one hop less, nothing else."""
    raw = bytearray(bytes(packet))
    raw[0:12] = bytes.fromhex((mac + ROUTER[vlan]).replace(":", ""))
    raw[21] -= 1
    return Raw(bytes(raw))


def out_first(packet: Packet) -> Packet:
    return routed(packet, 100, PROVIDER[4])


def in_chain(*headers: tuple[int, bytes], upper: int = 17, payload: bytes | None = None, **fields: Any) -> Packet:
    """A UDP packet behind extension headers given as (own number, all but the first octet)."""
    payload = bytes(UDP(sport=1000, dport=2000, len=15, chksum=1)) + b"wayname" if payload is None else payload
    numbers = [number for number, _ in headers] + [upper]
    chain = b"".join(bytes([following]) + rest for (_, rest), following in zip(headers, numbers[1:], strict=True))
    fields.setdefault("plen", len(chain) + len(payload))
    return to_router(IPv6(src=IP_OF[1], dst=FAR, nh=numbers[0], **fields) / Raw(chain + payload))


def options(octets: int = 8) -> bytes:
    """The rest of a header of this many octets, filled with Pad1 options."""
    return bytes([octets // 8 - 1]) + bytes(octets - 2)


def fragment(offset: int, more: int) -> bytes:
    return b"\0" + (offset << 3 | more).to_bytes(2) + (0xC0FFEE).to_bytes(4)


def authentication(octets: int) -> bytes:
    return bytes([octets // 4 - 2]) + bytes(octets - 2)


def error_about(packet: Packet, message: Packet, vlan: int, to: str, tag: int = 0, at: int = 14) -> Packet:
    quote = bytes(packet)[at:][:1232]
    answer = IPv6(src=ADDRESS[vlan], dst=IPv6(quote).src, hlim=64) / message / Raw(quote)
    ether = Ether(src=ROUTER[vlan], dst=to)
    return ether / Dot1Q(vlan=tag) / answer if tag else ether / answer
