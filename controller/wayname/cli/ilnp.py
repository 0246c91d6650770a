"""`wayname ilnp`: sessions between identifiers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from wayname.cli.options import Asking, client_options, pass_asking
from wayname.cli.repeat import watch_option
from wayname.cli.running_names import ILNP_PROVIDERS

if TYPE_CHECKING:
    from wayname.client.answers import IlnpProvider, IlnpSessionAnswer


@click.group()
def command() -> None:
    """ILNP: show sessions, admission, names; drain a provider."""


@command.command()
@watch_option
@client_options
@pass_asking
def sessions(asking: Asking) -> None:
    """List sessions, their locators in use, and why."""
    from wayname.cli import show

    found = asking.client().ilnp_sessions()
    if asking.json:
        show.show_json(found)
        return
    rows = [
        (
            each["number"],
            each["local"],
            each["peer"],
            f"{each['source']} by {each['provider'] or 'the main routes'}",
            each["destination"],
            each["reason"],
            _state(each),
        )
        for each in found
    ]
    show.show_table(("session", "host", "peer", "from", "to", "because", "state"), rows, "there is no session")


def _state(session: IlnpSessionAnswer) -> str:
    if session["telling"] == "told":
        return str(session["state"])
    is_told = session["telling"] == "under way"
    return f"{session['state']}, the peer {'is told' if is_told else 'does not know'} where we are"


@command.command()
@watch_option
@client_options
@pass_asking
def policies(asking: Asking) -> None:
    """Show the admission limits, and how much of them is used."""
    from wayname.cli import show

    rules = asking.client().ilnp_policies()
    if asking.json:
        show.show_json(rules)
        return
    rate = rules["rate"]
    per_prefix = f"{rate:g} a second, {rules['burst']:g} at once, from each /{rules['rate_prefix']}"
    naive = "on: each packet with a nonce makes a session, for experiments only"
    show.show_facts(
        (
            ("sessions", f"{rules['sessions']} ({rules['places']} of {rules['capacity']} places taken)"),
            ("count", f"others may open more up to {rules['count']} places"),
            ("rate", "without bound" if rate is None else per_prefix),
            ("resources", f"{rules['resources_used']:.1%} of the switch's room, {rules['resources']:.0%} is the most"),
            ("nonces", f"{rules['nonce_octets']} octets, {rules['nonce_use']}"),
            ("collected", f"after {rules['idle']:g} s without a packet"),
            ("naive", show.good_or_bad(naive if rules["naive"] else "off", not rules["naive"])),
        )
    )


@command.command()
@watch_option
@client_options
@pass_asking
def names(asking: Asking) -> None:
    """Show names: those of hosts that the edge updates, and those of peers that it looks up."""
    from wayname.cli import show

    found = asking.client().ilnp_names()
    if asking.json:
        show.show_json(found)
        return
    if found["server"] is None:
        print("no names are configured")
        return
    hosts = [(each["name"], each["told"], _told(each["is_told"], found["server"])) for each in found["hosts"]]
    show.show_table(("name", "tells", ""), hosts, "no host has a name")
    print()
    peers = [(each["name"], each["identifier"], each["found"] or "not asked yet") for each in found["peers"]]
    show.show_table(("peer", "identifier", "found"), peers, "no peer has a name")


def _told(is_told: bool, server: str) -> object:
    from wayname.cli import show

    return show.good_or_bad(f"{server} knows" if is_told else f"{server} does not know yet", is_told)


@command.command()
@watch_option
@client_options
@pass_asking
def providers(asking: Asking) -> None:
    """Show providers: up, down or draining."""
    _show_providers(asking, asking.client().ilnp_providers())


@command.command()
@click.argument("provider", shell_complete=ILNP_PROVIDERS)
@client_options
@pass_asking
def drain(asking: Asking, provider: str) -> None:
    """Move all sessions from PROVIDER to others, without loss, for example before maintenance."""
    _wish(asking, provider, True)


@command.command()
@click.argument("provider", shell_complete=ILNP_PROVIDERS)
@client_options
@pass_asking
def undrain(asking: Asking, provider: str) -> None:
    """Let sessions use PROVIDER again."""
    _wish(asking, provider, False)


def _wish(asking: Asking, provider: str, draining: bool) -> None:
    _show_providers(asking, asking.client().ilnp_drain(provider, draining=draining))


def _show_providers(asking: Asking, found: list[IlnpProvider]) -> None:
    from wayname.cli import show

    if asking.json:
        show.show_json(found)
        return
    rows = [(each["name"], each["prefix"], show.good_or_bad(each["state"], each["state"] == "up")) for each in found]
    show.show_table(("provider", "prefix", ""), rows, "there is no provider of a site with ILNP")
