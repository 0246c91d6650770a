"""`wayname providers`."""

from __future__ import annotations

from typing import Any

import click

from wayname.cli.options import Asking, client_options, pass_asking


@click.command()
@client_options
@pass_asking
def command(asking: Asking) -> None:
    """Providers: whether each can be used, why not, and loss and delay of its targets."""
    from wayname.cli import show

    providers = asking.client().get("/v1/providers")
    if asking.json:
        show.show_json(providers)
        return
    rows: list[tuple[Any, ...]] = []
    for each in providers:
        state = show.good_or_bad("used" if each["used"] else "down", each["used"])
        rows.append((each["name"], each["prefix"], state, "", "", each["why"]))
        for target in each["targets"]:
            loss = "" if target["loss"] is None else f"{target['loss']:.0%}"
            delay = "" if target["delay"] is None else f"{target['delay'] * 1000:.1f} ms"
            state = show.good_or_bad("up" if target["up"] else "down", target["up"])
            rows.append(("", target["target"], state, loss, delay, target["why"]))
    columns = ("provider", "prefix, targets", "", "loss", "delay", "because")
    show.show_table(columns, rows, "no providers are configured")
