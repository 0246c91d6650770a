"""Rates of hosts with their offloads on, side by side: `python -m bench.offloads`. Needs root and iperf3."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from pathlib import Path

import click

from bench.offloads.network import ADDRESSES, Network, linux, missing, switch
from bench.transfers import Draw, Send, Share, Transfer, measure, report
from harness.commands import NotStartedError

OFF, ON, XDP = "Linux, hosts' offloads off", "Linux", "Linux, an XDP program on its ports"
PACKET, TAP, AF_XDP = "the switch on AF_PACKET", "the switch on TAP", "the switch on AF_XDP"
EDGE_PACKET, EDGE_TAP, EDGE_XDP = "an edge on AF_PACKET", "an edge on TAP", "an edge on AF_XDP"

FORWARDERS: dict[str, Callable[[Path], AbstractContextManager[Network]]] = {
    OFF: lambda _: linux(offloads=False),
    ON: lambda _: linux(),
    XDP: lambda _: linux(xdp=True),
    PACKET: lambda folder: switch("", folder),
    TAP: lambda folder: switch("tap:", folder),
    AF_XDP: lambda folder: switch("xdp:", folder),
    EDGE_PACKET: lambda folder: switch("", folder, edge=True),
    EDGE_TAP: lambda folder: switch("tap:", folder, edge=True),
    EDGE_XDP: lambda folder: switch("xdp:", folder, edge=True),
}
PROTOCOLS = ("IPv4", "IPv6")
# A forwarder takes at least this share of the other's rate.
GOALS = [
    Share(f"{name}, {protocol}", f"{other}, {protocol}", share)
    for names, others in (
        ((PACKET, TAP, EDGE_PACKET, EDGE_TAP), {OFF: 1.0, ON: 0.5}),
        ((AF_XDP, EDGE_XDP), {XDP: 1.0}),
    )
    for name in names
    for other, share in others.items()
    for protocol in PROTOCOLS
]


@click.command()
@click.option("--draws", default=30, show_default=True, help="Transfers by each forwarder and protocol.")
@click.option("--seed", type=int, default=1, show_default=True, help="The same conditions for the same seed.")
def main(draws: int, seed: int) -> None:
    """Measure and print; status 1 if a goal is missed."""
    if lacking := missing():
        click.echo(f"skipped: hosts of Linux in namespaces need {lacking}")
        return
    try:
        rates = measure(_build, draws, seed)
    except NotStartedError as error:
        raise click.ClickException(str(error)) from None
    sys.exit(not report(rates, GOALS, seed))


def _build(stack: ExitStack) -> Mapping[str, Send]:
    sends: dict[str, Send] = {}
    for name, forwarder in FORWARDERS.items():
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="wayname-"))
        network = stack.enter_context(forwarder(Path(folder)))
        for protocol, address in zip(PROTOCOLS, ADDRESSES["east"], strict=True):
            sends[f"{name}, {protocol}"] = partial(_send, network, address)
    return sends


def _send(network: Network, address: str, draw: Draw) -> Transfer:
    return network.iperf(address, *draw.options)


if __name__ == "__main__":
    main()
