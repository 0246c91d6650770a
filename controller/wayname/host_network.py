"""The network of the machine that this runs on, as its kernel has it; read by `ip` of iproute2."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Interface, IPv6Network
from typing import Any

SECONDS = 10
GLOBAL = IPv6Network("2000::/3")
# Routes that a client of DHCPv6 sets for a prefix that was delegated to this machine (RFC 7084, WPD-5).
DELEGATED = frozenset(("unreachable", "blackhole", "prohibit"))


class HostNetworkError(Exception):
    """Why the kernel cannot be asked, in one line."""


@dataclass(frozen=True, slots=True)
class Device:
    """An Ethernet device, with its global IPv6 addresses."""

    name: str
    up: bool
    mtu: int
    addresses: tuple[IPv6Interface, ...]


@dataclass(frozen=True, slots=True)
class DefaultRoute:
    """A router that the kernel sends everything to, and the device that it is behind."""

    router: IPv6Address
    device: str


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
                found.setdefault(hop["dev"], DefaultRoute(IPv6Address(hop["gateway"]), hop["dev"]))
    return list(found.values())


def delegated_prefixes() -> list[IPv6Network]:
    """Return the prefixes that providers delegated to this machine (RFC 8415)."""
    routes = ip("-6", "route", "show", "table", "all")
    found = (route["dst"] for route in routes if route.get("type") in DELEGATED and "/" in route["dst"])
    return [prefix for prefix in map(IPv6Network, found) if prefix.subnet_of(GLOBAL) and 3 < prefix.prefixlen <= 64]


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
