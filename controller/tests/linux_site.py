"""An edge whose routes are Linux's, and what its kernel says."""

from __future__ import annotations

from ipaddress import IPv6Address, IPv6Network

from wayname.netlink.messages import Hop, Link, Neighbour, Path, Route, Target

SITE = """
[[port]]
number = 1
vlan = 10
[[port]]
number = 4
vlan = 100
[[port]]
number = 5
vlan = 200
[[port]]
number = 104
vlan = 100
[[port]]
number = 105
vlan = 200
[[interface]]
vlan = 10
addresses = ["2001:db8:1::1/64"]
[[interface]]
vlan = 100
name = "p1"
addresses = ["2001:db8:100::2/64"]
[[interface]]
vlan = 200
name = "p2"
addresses = ["2001:db8:200::2/64"]
[linux]
routes = true
[[linux.interface]]
port = 104
name = "wan0"
[[linux.interface]]
port = 105
name = "wan1"
"""
WAN0, WAN1, OTHER = 7, 8, 9
LINKS = (Link(WAN0, "wan0", True, False), Link(WAN1, "wan1", True, False), Link(OTHER, "eth0", True, False))
A, B = int(IPv6Address("2001:db8:100::1")), int(IPv6Address("2001:db8:200::1"))
BGP, STATIC = 186, 4
BY_A, BY_B = Path(Target.FORWARD, (Hop(WAN0, A, 1),)), Path(Target.FORWARD, (Hop(WAN1, B, 1),))
BY_BOTH = Path(Target.FORWARD, (Hop(WAN0, A, 1), Hop(WAN1, B, 2)))


def route(prefix: str, path: Path, metric: int = 20, protocol: int = BGP, *, is_gone: bool = False) -> Route:
    """A route as netlink tells of it."""
    network = IPv6Network(prefix)
    return Route(int(network.network_address), network.prefixlen, metric, protocol, path, is_gone)


def failed(link: int, address: int) -> Neighbour:
    """A neighbour that does not answer the kernel."""
    return Neighbour(link, address, 0, 0x20, False)
