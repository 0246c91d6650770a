"""`wayname nptv6`: providers of a site whose peers speak nothing, and what became of flows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from wayname.cli.files import file_option, read_toml
from wayname.cli.options import Asking, client_options, pass_asking
from wayname.cli.repeat import watch_option
from wayname.cli.running_names import INSIDE_PREFIXES

if TYPE_CHECKING:
    from wayname.client.answers import FlowAnswer, PolicyAnswer, RulesAnswer

PROTOCOLS = {6: "tcp", 17: "udp", 58: "icmpv6", 132: "sctp"}


@click.group(invoke_without_command=True)
@client_options
@click.pass_context
def command(context: click.Context) -> None:
    """NPTv6: show and set providers of flows; show flows whose provider failed."""
    if context.invoked_subcommand is None:
        context.invoke(providers)


@command.command()
@watch_option
@client_options
@pass_asking
def providers(asking: Asking) -> None:
    """Show providers: prefixes, state, hash buckets and traffic."""
    from wayname.cli import show

    answer = asking.client().nptv6_translation()
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
    columns = ("provider", "inside", "outside", "state", "home of", "serves", "packets out", "packets in")
    show.show_table(columns, rows, "nothing is translated")


@command.command()
@watch_option
@client_options
@pass_asking
def flows(asking: Asking) -> None:
    """Show the last hundred flows whose provider failed, and what became of them."""
    from wayname.cli import show

    answer = asking.client().nptv6_translation()
    if asking.json:
        show.show_json({key: answer[key] for key in ("counts", "flows")})
        return
    rows = [(_flow(each), each["provider"], each["fate"], each["why"]) for each in answer["flows"]]
    show.show_table(("flow", "provider", "fate", "because"), rows, "no flow has met a provider that failed")
    print(", ".join(f"{fate}: {count}" for fate, count in answer["counts"].items()))


@command.command()
@watch_option
@client_options
@pass_asking
def rules(asking: Asking) -> None:
    """Show the weights by which new flows get a provider, for each prefix and flow policy."""
    _show_rules(asking, asking.client().nptv6_rules())


@command.command("set")
@click.argument("inside", shell_complete=INSIDE_PREFIXES)
@click.option("--providers", help="Provider names, separated by commas; default: all of the prefix.")
@click.option("--weights", help="Weights, separated by commas, one for each provider; 0 is backup only.")
@file_option("Tables [[policy]], keys as of [[nptv6.policy]]: all there are to be, the configuration's first.")
@client_options
@pass_asking
def set_command(asking: Asking, inside: str, providers: str | None, weights: str | None, file: Path | None) -> None:
    """Set the providers and weights for new flows of a prefix. Connections keep their provider.

    \b
    wayname nptv6 set fd12:3456:789a::/48 --providers p,q --weights 3,1

    It holds until the controller ends. What cannot be is refused, with the reason.
    """
    shares: list[int] | None = None
    if weights is not None:
        try:
            shares = [int(weight) for weight in weights.split(",")]
        except ValueError:
            raise click.UsageError(f"{weights!r} are no numbers between commas") from None
    policies = None if file is None else read_toml(file).get("policy", [])
    names = None if providers is None else providers.split(",")
    _show_rules(
        asking, asking.client().nptv6_change_rules(inside=inside, providers=names, weights=shares, policy=policies)
    )


def _show_rules(asking: Asking, answer: list[RulesAnswer]) -> None:
    from wayname.cli import show

    if asking.json:
        show.show_json(answer)
        return
    rows = []
    for each in answer:
        rows.append((each["inside"], "all others", _shares(each), ""))
        rows += [(each["inside"], _flows_of(policy), _shares(policy), policy["origin"]) for policy in each["policies"]]
    show.show_table(("inside", "flows", "providers", "from"), rows, "nothing is translated")


def _shares(rules: RulesAnswer | PolicyAnswer) -> str:
    pairs = zip(rules["providers"], rules["weights"], strict=True)
    return ", ".join(f"{name} {weight}" for name, weight in pairs)


def _flows_of(policy: PolicyAnswer) -> str:
    protocol = policy["protocol"]
    words = [PROTOCOLS.get(protocol, f"protocol {protocol}") if protocol is not None else ""]
    for word, value in (
        ("from", policy["local"]),
        ("from port", policy["local_ports"]),
        ("to", policy["remote"]),
        ("to port", policy["remote_ports"]),
    ):
        if value is not None:
            words.append(f"{word} {value}")
    return " ".join(word for word in words if word) or "all"


def _flow(flow: FlowAnswer) -> str:
    name = PROTOCOLS.get(flow["protocol"], f"protocol {flow['protocol']}")
    return f"{name} {flow['local']} {flow['local_port']} with {flow['remote']} {flow['remote_port']}"
