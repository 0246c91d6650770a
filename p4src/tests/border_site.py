"""A site's border on the edge of small_site.py: its hosts in VLAN 1 inside, both providers outside.

provider 1   port 4   2001:db8:a1::/48
provider 2   port 5   2001:db8:b1::/48
inside                2001:db8:1::/48
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from ipaddress import IPv6Address, IPv6Network

from carriers import octets

from small_site import ADDRESS, ROUTER, Entry
from wayname.nptv6 import PrefixMapping

INSIDE = IPv6Network("2001:db8:1::/48")
OUTSIDE = {1: IPv6Network("2001:db8:a1::/48"), 2: IPv6Network("2001:db8:b1::/48")}
PORT_OF = {1: 4, 2: 5}
SITE = 1
BUCKETS = 256
WORKS, HELD, FAILED = range(3)
INSIDE_SIDE, OUTSIDE_SIDE = 1, 2
TCP, SCTP = 6, 132


def mapping(provider: int) -> PrefixMapping:
    return PrefixMapping(INSIDE, OUTSIDE[provider])


def out_of(address: str, provider: int) -> str:
    """An address inside as the provider's world sees it."""
    return str(mapping(provider).out(IPv6Address(address)))


def bucket_of(local: str, remote: str, next_header: int, local_port: int = 0, remote_port: int = 0) -> int:
    """The bucket of a flow; of what may come in fragments ports do not count."""
    ports = (local_port, remote_port) if next_header in (TCP, SCTP) else (0, 0)
    flow = octets(local) + octets(remote) + b"".join(port.to_bytes(2) for port in ports)
    return zlib.crc32(flow) % BUCKETS


def border_interfaces() -> Iterator[Entry]:
    for vlan, mac in ROUTER.items():
        side = INSIDE_SIDE if vlan == 1 else OUTSIDE_SIDE
        parameters: dict[str, int | str] = {"mac": mac, "address": ADDRESS[vlan], "side": side}
        yield Entry("interfaces", {"vlan": vlan}, "set_border_interface", parameters)


def change(old: IPv6Network, new: IPv6Network, difference: int) -> dict[str, int | str]:
    bits = max(old.prefixlen, new.prefixlen)
    mask = str(IPv6Address((1 << 128) - (1 << 128 - bits)))
    addresses = {"old": str(old.network_address), "new": str(new.network_address), "mask": mask}
    return {**addresses, "difference": difference, "in_subnet": int(bits <= 48)}


def translation(inside: IPv6Network, provider: int, outside: IPv6Network) -> Iterator[Entry]:
    made = PrefixMapping(inside, outside)
    there = change(inside, outside, made.adjustment)
    yield Entry("nptv6_sources", {"site": SITE, "provider": provider}, "nptv6_outbound", there)
    back = change(outside, inside, 0xFFFF - made.adjustment)
    key = f"{outside.network_address}/{made.bits}"
    named: dict[str, int | str] = {"site": SITE, "by": provider, **back}
    yield Entry("nptv6_destinations", {"destination": key}, "nptv6_inbound", named)


def bucket(number: int, home: int, now: int, policy: int = SITE) -> Entry:
    return Entry("hash_buckets", {"policy": policy, "bucket": number}, "set_bucket", {"owner": home, "now": now})


def state(provider: int, now: int) -> Entry:
    return Entry("provider_states", {"provider": provider}, "set_provider_state", {"now": now})


def entries(
    homes: Mapping[int, int], prefixes: Mapping[int, IPv6Network] = OUTSIDE, inside: IPv6Network = INSIDE
) -> Iterator[Entry]:
    """All of the border but the buckets that `homes` does not name; interfaces have to be modified beside."""
    yield Entry("urpf_sources", {"source": str(inside)}, "from_site", {"site": SITE})
    yield Entry("nptv6_destinations", {"destination": str(inside)}, "stay_in_site", {})
    for vlan in (100, 200):
        yield Entry("nptv6_destinations", {"destination": f"{ADDRESS[vlan]}/128"}, "stay_in_site", {})
    for provider, prefix in prefixes.items():
        yield Entry("urpf_sources", {"source": str(prefix)}, "own_source", {})
        yield from translation(inside, provider, prefix)
        yield state(provider, WORKS)
        yield Entry("source_policy_routes", {"source": str(prefix)}, "use_vrf", {"vrf": provider})
        everywhere: dict[str, int | str] = {"vrf": provider, "destination": "::/0"}
        yield Entry("vrf_routes", everywhere, "route_nexthop", {"nexthop": provider})
        within: dict[str, int | str] = {"vrf": provider, "destination": "2001:db8:1::/64"}
        yield Entry("vrf_routes", within, "route_connected", {"vlan": 1})
    for number, home in homes.items():
        yield bucket(number, home, home)
