"""`wayname routes`."""

from __future__ import annotations

import click

from wayname.cli.options import Asking, client_options, pass_asking
from wayname.cli.repeat import watch_option


@click.command()
@click.argument("prefix", required=False)
@click.option("--most", type=click.IntRange(0, 10_000), default=1000, show_default=True, help="Linux's routes to show.")
@watch_option
@client_options
@pass_asking
def command(asking: Asking, prefix: str | None, most: int) -> None:
    """Show routes and their ECMP next hops, and whether these answer; with PREFIX it and longer ones only."""
    from rich.text import Text

    from wayname.cli import show

    routes = asking.client().routes(within=prefix, most=most)
    if asking.json:
        show.show_json(routes)
        return
    rows = []
    for route in routes:
        via = Text("\n").join(
            Text.assemble(
                show.in_cell(f"{hop['address']}%{hop['interface']} "),
                f"(weight {hop['weight']}) " if hop["weight"] != 1 else "",
                show.good_or_bad(hop["health"], hop["health"] != "down"),
            )
            for hop in route["via"]
        )
        by = f"{route['address']} on {route['interface']}" if route["interface"] else via
        used = Text() if route["used"] else show.good_or_bad("not used", False)
        rows.append((route["prefix"], route["kind"], route["origin"], by, used))
    show.show_table(("prefix", "kind", "from", "by", ""), rows, "there are no routes")
    if sum(route["origin"] == "linux" for route in routes) == most:
        click.echo(f"Linux may have more than these {most}; name a PREFIX, or give --most", err=True)
