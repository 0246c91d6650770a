"""`wayname punts`."""

from __future__ import annotations

import click

from wayname.cli.filters import is_port, port_filter
from wayname.cli.options import Asking, client_options, pass_asking
from wayname.cli.repeat import watch_option


@click.command()
@port_filter
@watch_option
@client_options
@pass_asking
def command(asking: Asking, port: str | None) -> None:
    """Show punted packets over the rate limits, by reason and port."""
    from wayname.cli import show

    punts = [each for each in asking.client().punts() if is_port(port, each["port"], each["port_name"])]
    if asking.json:
        show.show_json(punts)
        return
    rows = [
        (each["switch"], each["controller"], f"{each['port']} {each['port_name']}", each["punt_class"], each["name"])
        for each in punts
    ]
    show.show_table(("held back", "no room", "port", "no.", "reason"), rows, "nothing was held back")
