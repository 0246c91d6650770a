"""`wayname edges`."""

from __future__ import annotations

import click

from wayname.cli.options import Asking, client_options, pass_asking
from wayname.cli.repeat import watch_option


@click.command()
@watch_option
@client_options
@pass_asking
def command(asking: Asking) -> None:
    """List the edges of a controller that stands for several.

    The other commands take --edge NAME for one of them. Ends with status 1 while one does not run.
    """
    from wayname.cli import show

    asking.edge = ""
    edges = asking.client().edges()
    if asking.json:
        show.show_json(edges)
    else:
        rows = [
            (
                each["edge"],
                show.good_or_bad("runs" if each["runs"] else "waits", each["runs"]),
                "leads" if each["leads"] else "",
                "there" if each["connected"] else "",
                each["sessions"],
                f"{each['providers_used']} of {each['providers']}",
                each["restarts"] or "",
                each["why"],
            )
            for each in edges
        ]
        show.show_table(
            ("edge", "state", "leads", "switch", "sessions", "providers", "restarts", "why"), rows, "no edges"
        )
    if not all(each["runs"] for each in edges):
        raise click.exceptions.Exit(1)
