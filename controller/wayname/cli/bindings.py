"""`wayname bindings`."""

from __future__ import annotations

import click

from wayname.cli.filters import is_port, port_filter, vlan_filter
from wayname.cli.options import Asking, client_options, pass_asking
from wayname.cli.repeat import watch_option


@click.command()
@port_filter
@vlan_filter
@watch_option
@client_options
@pass_asking
def command(asking: Asking, port: str | None, vlan: int | None) -> None:
    """Show address bindings (SAVI), and each port's share of the tables."""
    from wayname.cli import show

    known = asking.client().bindings()
    names = {each["port"]: each["name"] for each in known["ports"]}
    known["ports"] = [each for each in known["ports"] if is_port(port, each["port"], each["name"])]
    known["bindings"] = [
        each
        for each in known["bindings"]
        if is_port(port, each["port"], names.get(each["port"])) and vlan in (None, each["vlan"])
    ]
    if asking.json:
        show.show_json(known)
        return
    rows = [
        (f"{each['port']} {names.get(each['port'], '')}", each["vlan"], each["address"], each["mac"], each["origin"])
        for each in known["bindings"]
    ]
    show.show_table(("port", "vlan", "address", "mac", "origin"), rows, "no host has used an address yet")
    click.echo()
    ports = [
        (
            f"{each['port']} {each['name']}",
            "\n".join(f"{vlan['vlan']} {', '.join(vlan['guards']) or 'trusted'}" for vlan in each["vlans"]),
            f"{each['stations']} of {each['max_macs']}",
            f"{each['bindings']} of {each['max_addresses']}",
            f"{each['neighbours']} of {each['max_addresses']}",
        )
        for each in known["ports"]
    ]
    show.show_table(("port", "vlan and guards", "stations", "bindings", "neighbours"), ports, "there are no ports")
