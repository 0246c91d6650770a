"""Options that show less of a list, the same on each command that has them."""

from __future__ import annotations

from ipaddress import IPv6Network, ip_address

import click

from wayname.cli.running_names import PORTS

port_filter = click.option("--port", metavar="PORT", shell_complete=PORTS, help="Only of this port, by name or number.")
vlan_filter = click.option("--vlan", type=click.IntRange(1, 4094), help="Only of this VLAN.")


def is_port(wanted: str | None, number: int | None, name: str | None) -> bool:
    """Whether a port is the one that was named, if one was."""
    return wanted is None or wanted in (name, str(number))


def network(text: str | None, option: str) -> IPv6Network | None:
    """Read an address or a prefix."""
    try:
        return None if text is None else IPv6Network(text)
    except ValueError:
        raise click.UsageError(f"{option} {text!r} is no IPv6 address and no prefix") from None


def is_in(wanted: IPv6Network | None, address: str) -> bool:
    """Whether an address is one that is wanted, if any is."""
    return wanted is None or ip_address(address) in wanted
