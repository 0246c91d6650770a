"""The configuration that `wayname init` writes: one network of hosts, and a provider on each uplink."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Interface, IPv6Network
from pathlib import Path

from wayname.config.provider import DELEGATED

# As the unit of the package starts it.
ADDRESS = "unix:/run/wayname-switch/p4runtime"
ADMIN = "/run/wayname-switch/admin"
PACKAGED = Path("/etc/wayname")
HOSTS_VLAN = 10
FIRST_UPLINK_VLAN = 101


@dataclass(frozen=True, slots=True)
class Uplink:
    """A device behind which a provider's router is, and the prefix that the provider gave the site."""

    device: str
    # None: the provider delegates it, of the length that is asked for.
    prefix: IPv6Network | None
    # None: it advertises itself.
    router: IPv6Address | None
    addresses: tuple[IPv6Interface, ...] = ()
    prefix_length: int | None = None

    @property
    def via(self) -> str | None:
        """How the configuration names the router."""
        if self.router is None:
            return None
        is_on_link = any(self.router in own.network for own in self.addresses)
        return str(self.router) if is_on_link else f"{self.router}%{self.device}"

    @property
    def text(self) -> str:
        """Say to people where prefix and router come from."""
        prefix = self.prefix or f"asks for its prefix{f' of /{self.prefix_length}' if self.prefix_length else ''}"
        return f"provider {self.device}: {prefix} by {self.via or 'who advertises itself there'}"

    def provider(self) -> str:
        """Return its `[[provider]]`."""
        lines = ["[[provider]]", f'name = "{self.device}"', f'prefix = "{self.prefix or DELEGATED}"']
        if self.prefix_length is not None:
            lines.append(f"prefix_length = {self.prefix_length}")
        lines.append(f'via = ["{self.via}"]' if self.via else f'interface = "{self.device}"')
        return "\n".join(lines) + "\n\n"


def random_inside(length: int) -> IPv6Network:
    """Return a prefix of the site's own, which no other site is likely to have (RFC 4193, section 3.2)."""
    site = IPv6Address(0xFD << 120 | random.SystemRandom().getrandbits(40) << 80)
    return IPv6Network((site, max(length, 48)))


def port_options(hosts: Sequence[str], uplinks: Sequence[Uplink]) -> str:
    """Return the options of the switch for such an edge."""
    devices = [*hosts, *(each.device for each in uplinks)]
    return " ".join(f"-i {number}@{device}" for number, device in enumerate(devices, 1))


def next_commands(file: Path, hosts: Sequence[str], uplinks: Sequence[Uplink]) -> list[str]:
    """Return what is left to be done, as root; with the units of the package they start switch and controller."""
    ports = port_options(hosts, uplinks)
    if file == PACKAGED / "edge.toml" and (PACKAGED / "switch.env").exists():
        return [
            f"echo 'PORTS={ports}' >>{PACKAGED}/switch.env",
            "systemctl enable wayname-switch wayname",
            "systemctl restart wayname-switch wayname",
            "wayname status --wait",
            f"wayname doctor {file}",
        ]
    return [
        "mkdir -p /run/wayname-switch",
        f"wayname-switch {ports} --grpc-server-addr {ADDRESS} --admin {ADMIN} &",
        f"wayname up --config {file} &",
        "wayname status --wait",
        f"wayname doctor {file}",
    ]


def first_config(hosts: Sequence[str], uplinks: Sequence[Uplink], inside: IPv6Network) -> str:
    """Return the text of the configuration."""
    router = IPv6Interface((inside.network_address + 1, 64))
    parts = [
        f"""\
# An edge as `wayname init` found it. IPv6 is routed; IPv4 is bridged only.
# wayname.toml(5) has all keys. After a change: wayname check FILE, then wayname reload.

[switch]
# The switch is started with: {port_options(hosts, uplinks)} --grpc-server-addr {ADDRESS} --admin {ADMIN}
address = "{ADDRESS}"
admin = "unix:{ADMIN}"

# Ports to hosts. Their names are the devices', so that `wayname doctor` finds them.
"""
    ]
    numbers = iter(range(1, 510))
    parts += [f'[[port]]\nnumber = {next(numbers)}\nname = "{device}"\nvlan = {HOSTS_VLAN}\n\n' for device in hosts]
    parts.append("# Ports to providers.\n")
    vlans = range(FIRST_UPLINK_VLAN, FIRST_UPLINK_VLAN + len(uplinks))
    for uplink, vlan in zip(uplinks, vlans, strict=True):
        parts.append(f'[[port]]\nnumber = {next(numbers)}\nname = "{uplink.device}"\nvlan = {vlan}\n\n')
    parts.append(f"""\
# The hosts' network. Hosts get addresses and the router from its advertisements (SLAAC).
[[interface]]
vlan = {HOSTS_VLAN}
name = "site"
addresses = ["{router}"]
advertise = true
# DNS servers that hosts are told of; else they need one from elsewhere.
#dns_servers = ["2001:db8:f::53"]

""")
    for uplink, vlan in zip(uplinks, vlans, strict=True):
        # What Linux has there of a provider that may give another prefix tomorrow is not to last.
        own = ", ".join(f'"{address}"' for address in uplink.addresses if uplink.prefix is not None)
        parts.append(f'[[interface]]\nvlan = {vlan}\nname = "{uplink.device}"\naddresses = [{own}]\n\n')
    parts.append(
        "# Who gave the site a prefix, and the routers there. What bears the prefix leaves by this provider.\n"
    )
    if any(each.prefix is None for each in uplinks):
        parts.append(
            "# The edge asks for the prefix itself, by DHCPv6 prefix delegation, and follows when it changes.\n"
        )
    parts += [each.provider() for each in uplinks]
    parts.append(f"""\
# What hosts have inside, and what it is translated from: each flow gets a provider that works (RFC 6296).
[[nptv6]]
inside = "{inside}"
""")
    return "".join(parts)
