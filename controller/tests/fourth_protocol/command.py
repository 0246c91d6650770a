"""`wayname keyed`."""

from __future__ import annotations

import click

from wayname.cli.options import Asking, client_options, pass_asking


@click.command()
@client_options
@pass_asking
def command(asking: Asking) -> None:
    """Sessions by a key: number, host here, peer."""
    from wayname.cli import show

    rows = [(each["number"], each["local"], each["peer"]) for each in asking.client().get("/v1/keyed")]
    show.show_table(("number", "local", "peer"), rows, "no hosts have a session")
