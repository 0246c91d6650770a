"""`wayname punts`."""

from __future__ import annotations

import click

from wayname.cli.options import Asking, client_options, pass_asking


@click.command()
@client_options
@pass_asking
def command(asking: Asking) -> None:
    """Show punted packets over the rate limits, by reason and port."""
    from wayname.cli import show

    punts = asking.client().punts()
    if asking.json:
        show.show_json(punts)
        return
    rows = [
        (each["switch"], each["controller"], f"{each['port']} {each['port_name']}", each["punt_class"], each["name"])
        for each in punts
    ]
    show.show_table(("held back", "no room", "port", "no.", "reason"), rows, "nothing was held back")
