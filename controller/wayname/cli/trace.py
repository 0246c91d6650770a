"""`wayname trace`."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from ipaddress import IPv6Address
from typing import TYPE_CHECKING

import click

from wayname.cli.options import Asking, client_options, pass_asking
from wayname.cli.running_names import PORTS
from wayname.failure import Failure

if TYPE_CHECKING:
    from wayname.client.answers import Outcome, TableLookup


@click.command()
@click.argument("source")
@click.argument("destination")
@click.option(
    "--in-port",
    metavar="PORT",
    shell_complete=PORTS,
    help="Port it comes in by, or a host there; else SOURCE's.",
)
@click.option("--tcp", type=click.IntRange(1, 65535), metavar="PORT", help="A TCP SYN to this port.")
@click.option("--udp", type=click.IntRange(1, 65535), metavar="PORT", help="A UDP datagram to this port.")
@click.option("--source-port", type=click.IntRange(1, 65535), help="With --tcp or --udp; else 49152.")
@click.option("--hop-limit", type=click.IntRange(0, 255), help="Its hop limit as it comes in; else 64.")
@client_options
@pass_asking
def command(
    asking: Asking,
    source: str,
    destination: str,
    in_port: str | None,
    tcp: int | None,
    udp: int | None,
    source_port: int | None,
    hop_limit: int | None,
) -> None:
    """What becomes of a packet at this edge, table by table, and why.

    Both are addresses, or names that this machine knows. The controller has the switch take a packet from SOURCE to
    DESTINATION as if it had come in by the port, an echo request unless --tcp or --udp says otherwise, and the switch
    tells each step. It is a real packet: if the tables let it out, it leaves. A switch of kind BMv2 has no traces.
    """
    from wayname.cli import show

    if tcp is not None and udp is not None:
        raise click.UsageError("--tcp and --udp are two packets: give one of them")
    if source_port is not None and tcp is None and udp is None:
        raise click.UsageError("--source-port is for --tcp and --udp")
    trace = asking.client().trace(
        source=address_of(source),
        destination=address_of(destination),
        port=in_port,
        protocol="tcp" if tcp is not None else "udp" if udp is not None else "icmp",
        source_port=source_port,
        destination_port=tcp if tcp is not None else udp,
        hop_limit=hop_limit,
    )
    if asking.json:
        show.show_json(trace)
        return
    print(f"came in by {trace['port_name']} ({trace['port']})")
    if trace["unresolved"]:
        print(f"it was sent to the router, since nobody on its link answers for {destination}")
    rows = [
        (each["block"], each["table"], in_words(each["key"]), "hit" if each["hit"] else "miss", does(each))
        for each in trace["tables"]
    ]
    show.show_table(("block", "table", "key", "", "action"), rows, "it met no table")
    for outcome in trace["outcomes"]:
        click.echo(end(outcome))


def address_of(host: str) -> str:
    """An address as it is, or the one of a name, as programs of this machine know it."""
    try:
        return str(IPv6Address(host))
    except ValueError:
        pass
    try:
        return str(socket.getaddrinfo(host, None, socket.AF_INET6, socket.SOCK_DGRAM)[0][4][0])
    except (OSError, UnicodeError):
        raise Failure(f"{host} is no IPv6 address, and no name of one: `wayname hosts` lists addresses") from None


def in_words(values: Mapping[str, str | int]) -> str:
    """Names and values in a line."""
    return " ".join(f"{name}={value}" for name, value in values.items())


def does(lookup: TableLookup) -> str:
    """The action that a table chose."""
    return f"{lookup['action']}({in_words(lookup['arguments'])})"


def end(outcome: Outcome) -> str:
    """Where a packet ended."""
    who = "the packet" if outcome["copy_of_packet"] == 0 else f"copy {outcome['copy_of_packet']}"
    match outcome["what"]:
        case "dropped" if outcome["reason"] is None:
            return f"{who} ended here: {outcome['why']}"
        case "dropped":
            return f"{who} was dropped: {outcome['why']} (drop reason {outcome['reason']})"
        case "to controller":
            return f"{who} went to the controller"
        case "lost":
            return f"{who} was lost by port {outcome['port_name'] or outcome['port']}: {outcome['why']}"
    return f"{who} left by {outcome['port_name'] or 'port'} ({outcome['port']})"
