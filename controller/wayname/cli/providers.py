"""`wayname providers`."""

from __future__ import annotations

from typing import Any

import click

from wayname.cli.options import Asking, client_options, pass_asking
from wayname.cli.repeat import watch_option


@click.command()
@watch_option
@client_options
@pass_asking
def command(asking: Asking) -> None:
    """Providers: prefixes and their lifetimes, whether each can be used, why not, loss and delay of its targets."""
    from wayname.cli import show

    providers = asking.client().providers()
    if asking.json:
        show.show_json(providers)
        return
    rows: list[tuple[Any, ...]] = []
    for each in providers:
        state = show.good_or_bad("used" if each["used"] else "down", each["used"])
        delegated = each["prefix_source"] != "configuration"
        rows.append((each["name"], each["prefix"] or each["prefix_source"], state, "", "", each["why"]))
        for prefix in each["prefixes"] if delegated else ():
            lasts = " and ".join(
                f"{what} {'for ever' if prefix[what] is None else f'{prefix[what]:.0f} s'}"
                for what in ("preferred", "valid")
            )
            text = lasts if prefix["phase"] != "ended" else "hosts may use it still"
            rows.append(("", f"{prefix['prefix']} by {each['prefix_source']}", prefix["phase"], "", "", text))
        for target in each["targets"]:
            loss = "" if target["loss"] is None else f"{target['loss']:.0%}"
            delay = "" if target["delay"] is None else f"{target['delay'] * 1000:.1f} ms"
            state = show.good_or_bad("up" if target["up"] else "down", target["up"])
            rows.append(("", target["target"], state, loss, delay, target["why"]))
    columns = ("provider", "prefix, targets", "state", "loss", "delay", "because")
    show.show_table(columns, rows, "no providers are configured")
