"""`wayname hosts`."""

from __future__ import annotations

import click

from wayname.cli.options import Asking, client_options, pass_asking


@click.command()
@client_options
@pass_asking
def command(asking: Asking) -> None:
    """Show hosts: port, VLAN, MAC and addresses (FDB and neighbours)."""
    from wayname.cli import show

    hosts = asking.client().hosts()
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
