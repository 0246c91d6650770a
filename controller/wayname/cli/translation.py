"""`wayname translation`: providers of a site whose peers speak nothing, and what became of flows."""

from __future__ import annotations

from typing import Any

import click

from wayname.cli.options import Asking, client_options, pass_asking

PROTOCOLS = {6: "tcp", 17: "udp", 58: "icmpv6", 132: "sctp"}


@click.group(invoke_without_command=True)
@client_options
@click.pass_context
def command(context: click.Context) -> None:
    """Show providers and their shares of flows; `flows` shows what became of those whose provider failed."""
    if context.invoked_subcommand is None:
        context.invoke(providers)


@command.command()
@client_options
@pass_asking
def providers(asking: Asking) -> None:
    """Providers: their prefixes, whether they work, and what went by them."""
    from wayname.cli import show

    answer = asking.client().get("/v1/translation")
    if asking.json:
        show.show_json(answer)
        return
    rows = [
        (
            each["name"],
            each["inside"],
            each["prefix"],
            each["state"],
            each["home"],
            each["serves"],
            each["sent_packets"],
            each["received_packets"],
        )
        for each in answer["providers"]
    ]
    columns = ("provider", "inside", "outside", "", "home of", "serves", "packets out", "packets in")
    show.show_table(columns, rows, "nothing is translated")


@command.command()
@client_options
@pass_asking
def flows(asking: Asking) -> None:
    """Flows whose provider failed: the last hundred, what became of them, and why."""
    from wayname.cli import show

    answer = asking.client().get("/v1/translation")
    if asking.json:
        show.show_json({key: answer[key] for key in ("counts", "flows")})
        return
    rows = [(_flow(each), each["provider"], each["fate"], each["why"]) for each in answer["flows"]]
    show.show_table(("flow", "provider", "", "because"), rows, "no flow has met a provider that failed")
    print(", ".join(f"{fate}: {count}" for fate, count in answer["counts"].items()))


def _flow(flow: dict[str, Any]) -> str:
    name = PROTOCOLS.get(flow["protocol"], f"protocol {flow['protocol']}")
    return f"{name} {flow['local']} {flow['local_port']} with {flow['remote']} {flow['remote_port']}"
