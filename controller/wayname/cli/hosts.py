"""`wayname hosts`."""

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
    """Show hosts: port, VLAN, MAC and addresses (FDB and neighbours)."""
    from wayname.cli import show

    hosts = [
        host
        for host in asking.client().hosts()
        if is_port(port, host["port"], host["port_name"]) and vlan in (None, host["vlan"])
    ]
    if asking.json:
        show.show_json(hosts)
        return
    rows = [
        (
            "not heard lately" if host["port"] is None else f"{host['port']} {host['port_name'] or ''}",
            host["vlan"],
            host["mac"],
            [f"{each['address']} {each['state']}" for each in host["addresses"]],
        )
        for host in hosts
    ]
    show.show_table(("port", "vlan", "mac", "addresses"), rows, "no host was heard yet")
