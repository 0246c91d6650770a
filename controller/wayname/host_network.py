"""The network of the machine that this runs on, as its kernel has it; read by `ip` of iproute2."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Interface, IPv6Network
from typing import Any

SECONDS = 10
GLOBAL = IPv6Network("2000::/3")
# What keeps packets for the rest of a site's prefix from going back and forth (RFC 7084, WPD-5).
REFUSED = frozenset(("unreachable", "blackhole", "prohibit"))
# Whose routes people write; those of clients of DHCPv6 bear other numbers.
WRITTEN = frozenset(("boot", "static"))


class HostNetworkError(Exception):
    """Why the kernel cannot be asked, in one line."""


@dataclass(frozen=True, slots=True)
class Device:
    """An Ethernet device, with its global IPv6 addresses."""

    name: str
    up: bool
    mtu: int
    addresses: tuple[IPv6Interface, ...]
    has_carrier: bool = True


@dataclass(frozen=True, slots=True)
class DefaultRoute:
    """A router that the kernel sends everything to, and the device that it is behind."""

    router: IPv6Address
    device: str
    # By router advertisements, which the edge can hear itself.
    is_advertised: bool = False


@dataclass(frozen=True, slots=True)
class SitePrefix:
    """A prefix that this machine has from a provider."""

    network: IPv6Network
    # By a client of DHCPv6 (RFC 8415), and so for a time; or somebody wrote it.
    is_delegated: bool


def devices() -> list[Device]:
    """Return the Ethernet devices that can be ports: no bridges or bonds, and no part of one."""
    return [
        Device(
            each["ifname"],
            "UP" in each.get("flags", ()),
            each["mtu"],
            tuple(
                IPv6Interface(f"{own['local']}/{own['prefixlen']}")
                for own in each.get("addr_info", ())
                if own.get("family") == "inet6" and own.get("scope") == "global"
            ),
            "NO-CARRIER" not in each.get("flags", ()),
        )
        for each in ip("-details", "address", "show")
        if each.get("link_type") == "ether"
        and "master" not in each
        and each.get("linkinfo", {}).get("info_kind") not in ("bridge", "bond", "dummy", "ifb", "tun", "vxlan")
    ]


def default_routes() -> list[DefaultRoute]:
    """Return the default routes, the best first; a device once."""
    found: dict[str, DefaultRoute] = {}
    for route in sorted(ip("-6", "route", "show", "default"), key=lambda each: int(each.get("metric", 0))):
        for hop in route.get("nexthops", [route]):
            if "gateway" in hop:
                is_advertised = route.get("protocol") == "ra"
                found.setdefault(hop["dev"], DefaultRoute(IPv6Address(hop["gateway"]), hop["dev"], is_advertised))
    return list(found.values())


def site_prefixes() -> list[SitePrefix]:
    """Return the prefixes that providers gave this machine: it refuses what is for nobody in them."""
    found = []
    for route in ip("-6", "route", "show", "table", "all"):
        if route.get("type") in REFUSED and "/" in route["dst"]:
            network = IPv6Network(route["dst"])
            if network.subnet_of(GLOBAL) and 3 < network.prefixlen <= 64:
                found.append(SitePrefix(network, route.get("protocol", "boot") not in WRITTEN))
    return found


def ip(*words: str) -> list[dict[str, Any]]:
    """Ask `ip`."""
    try:
        done = subprocess.run(["ip", "-json", *words], capture_output=True, text=True, timeout=SECONDS, check=True)
        answer = json.loads(done.stdout or "[]")
    except FileNotFoundError:
        raise HostNetworkError("there is no `ip` in PATH: install iproute2 (apt install iproute2)") from None
    except subprocess.CalledProcessError as error:
        raise HostNetworkError(f"`ip {' '.join(words)}` failed: {error.stderr.strip()}") from None
    except (ValueError, subprocess.TimeoutExpired) as error:
        raise HostNetworkError(f"`ip {' '.join(words)}` gave no answer that can be read ({error})") from None
    # iproute2 writes empty objects for what a filter leaves out.
    return [each for each in answer if each]
