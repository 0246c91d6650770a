"""`wayname drops`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from wayname.cli.options import Asking, client_options, pass_asking
from wayname.cli.repeat import watch_option
from wayname.failure import Failure

if TYPE_CHECKING:
    from wayname.client.answers import PortLoss


@click.command()
@watch_option
@client_options
@pass_asking
def command(asking: Asking) -> None:
    """Show dropped packets by reason, and what ports lost.

    Ports lose frames before and behind the tables: too long ones, and those that come faster than they are taken.
    """
    from wayname.cli import show

    client = asking.client()
    drops = client.drops()
    losses: list[PortLoss] = []
    unknown = ""
    try:
        losses = client.port_losses()
    except Failure as error:
        unknown = str(error)
    if asking.json:
        show.show_json([*drops, *({**each, "where": "port"} for each in losses)])
    else:
        rows: list[tuple[object, ...]] = [
            (each["packets"], each["bytes"], each["where"], each["reason"], each["name"]) for each in drops
        ]
        rows += [(each["packets"], None, in_words(each), None, each["name"]) for each in losses]
        show.show_table(("packets", "bytes", "where", "no.", "reason"), rows, "nothing was dropped")
    if unknown:
        click.echo(unknown, err=True)


def in_words(loss: PortLoss) -> str:
    """The port that lost something."""
    return f"port {loss['port']} {loss['port_name']}".rstrip()
