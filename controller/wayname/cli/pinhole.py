"""`wayname pinhole`: flows that may begin outside."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from wayname.cli.options import Asking, client_options, pass_asking
from wayname.cli.repeat import watch_option
from wayname.cli.running_names import PINHOLES

if TYPE_CHECKING:
    from wayname.client.answers import PinholesAnswer

inside_argument = click.argument("inside")
protocol_argument = click.argument("protocol", required=False)
ports_argument = click.argument("ports", required=False)


@click.group()
def command() -> None:
    """Simple security: only what answers the inside comes in, and what a pinhole lets in.

    INSIDE is an address that a host has inside, or a prefix; PROTOCOL is tcp, udp, icmpv6 or sctp; PORTS are the
    host's: 443, or 5000-5999.
    """


@command.command("list")
@watch_option
@client_options
@pass_asking
def list_command(asking: Asking) -> None:
    """All pinholes, and how often they were used."""
    _show(asking, asking.client().pinholes())


@command.command()
@inside_argument
@protocol_argument
@ports_argument
@client_options
@pass_asking
def add(asking: Asking, inside: str, protocol: str | None, ports: str | None) -> None:
    """Let anybody outside begin these flows.

    \b
    wayname pinhole add fd12:3456:789a:10::80 tcp 443

    It stays when the controller is started again.
    """
    _show(asking, asking.client().open_pinhole(inside=inside, protocol=protocol, ports=ports))


@command.command()
@click.argument("inside", shell_complete=PINHOLES)
@protocol_argument
@ports_argument
@client_options
@pass_asking
def remove(asking: Asking, inside: str, protocol: str | None, ports: str | None) -> None:
    """Close a pinhole that was added here."""
    _show(asking, asking.client().close_pinhole(inside=inside, protocol=protocol, ports=ports))


def _show(asking: Asking, answer: PinholesAnswer) -> None:
    from wayname.cli import show

    if asking.json:
        show.show_json(answer)
        return
    rows = [
        (each["inside"], each["protocol"] or "any", each["ports"] or "any", each["origin"], each["packets"])
        for each in answer["pinholes"]
    ]
    nothing = "no pinhole" if answer["enabled"] else "nothing is filtered"
    show.show_table(("inside", "protocol", "ports", "from", "packets"), rows, nothing)
