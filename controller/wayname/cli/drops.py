"""`wayname drops`."""

from __future__ import annotations

import click

from wayname.cli.options import Asking, client_options, pass_asking


@click.command()
@client_options
@pass_asking
def command(asking: Asking) -> None:
    """Show dropped packets by reason."""
    from wayname.cli import show

    drops = asking.client().get("/v1/drops")
    if asking.json:
        show.show_json(drops)
        return
    rows = [(each["packets"], each["bytes"], each["where"], each["reason"], each["name"]) for each in drops]
    show.show_table(("packets", "bytes", "where", "no.", "reason"), rows, "nothing was dropped")
