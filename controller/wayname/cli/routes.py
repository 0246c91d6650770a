"""`wayname routes`."""

from __future__ import annotations

import click

from wayname.cli.options import Asking, client_options, pass_asking


@click.command()
@client_options
@pass_asking
def command(asking: Asking) -> None:
    """Show routes and their ECMP next hops, and whether these answer."""
    from rich.text import Text

    from wayname.cli import show

    routes = asking.client().get("/v1/routes")
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
        used = Text() if route["used"] else show.good_or_bad("not used: no next hop answers", False)
        rows.append((route["prefix"], route["kind"], by, used))
    show.show_table(("prefix", "kind", "by", ""), rows, "no routes are configured")
