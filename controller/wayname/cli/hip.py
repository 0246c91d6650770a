"""`wayname hip`: associations between hosts, and who they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from wayname.cli.options import Asking, client_options, pass_asking
from wayname.cli.repeat import watch_option

if TYPE_CHECKING:
    from wayname.client.answers import AssociationAction, AssociationAnswer


def of_two_hosts(wish: Callable[[Asking, str, str], None]) -> click.Command:
    """Make a command about the association of a host here with a peer."""
    return command.command()(click.argument("local")(click.argument("peer")(client_options(pass_asking(wish)))))


@click.group()
def command() -> None:
    """HIP: show associations and hosts; connect, rekey, close."""


@command.command()
@watch_option
@client_options
@pass_asking
def associations(asking: Asking) -> None:
    """List associations: hosts, peers, state, and the peers' locators."""
    _show(asking, asking.client().hip_associations())


@command.command()
@watch_option
@client_options
@pass_asking
def hosts(asking: Asking) -> None:
    """Show the edge's hosts with their HITs and HIP records, their peers, and the puzzle difficulty."""
    from wayname.cli import show

    found = asking.client().hip_hosts()
    if asking.json:
        show.show_json(found)
        return
    rows = [(each["address"], each["hit"], each["algorithm"], each["record"]) for each in found["hosts"]]
    show.show_table(("host", "tag", "key", "record"), rows, "this edge speaks HIP for no host")
    print()
    peers = [(each["address"], each["hit"]) for each in found["peers"]]
    show.show_table(("peer", "tag"), peers, "no peer is known")
    print()
    most = f"{found['least_difficulty']} bits at rest, up to {found['max_difficulty']} under load"
    show.show_facts((("puzzles", f"{found['difficulty']} bits now ({most})"),))


@of_two_hosts
def connect(asking: Asking, local: str, peer: str) -> None:
    """Set up an association of the host LOCAL with PEER, both by address, before the two talk."""
    _wish(asking, local, peer, "connect")


@of_two_hosts
def renew(asking: Asking, local: str, peer: str) -> None:
    """Set up the association of LOCAL with PEER anew, with other keys. Traffic goes on meanwhile."""
    _wish(asking, local, peer, "renew")


@of_two_hosts
def close(asking: Asking, local: str, peer: str) -> None:
    """Close the association of LOCAL with PEER. Traffic between the two sets up another one."""
    _wish(asking, local, peer, "close")


def _wish(asking: Asking, local: str, peer: str, wish: AssociationAction) -> None:
    _show(asking, asking.client().hip_change_association(local=local, peer=peer, wish=wish))


def _show(asking: Asking, found: list[AssociationAnswer]) -> None:
    from wayname.cli import show

    if asking.json:
        show.show_json(found)
        return
    rows = [
        (
            "" if each["session"] is None else each["session"],
            each["local"],
            each["peer"],
            f"{each['state']}, by the {each['spoken_by']}",
            " ".join(map(str, each["locators"])),
            " ".join(map(str, each["unverified"])),
            " ".join(f"{spi:#010x}" for spi in each["spis"]),
            " ".join(f"{spi:#010x}" for spi in each["peer_spis"]),
        )
        for each in found
    ]
    columns = ("session", "host", "peer", "", "the peer is at", "and says at", "its SPIs here", "there")
    show.show_table(columns, rows, "there is no association")
