"""Rates of hosts with their offloads on, side by side: `python -m bench.offloads`. Needs root and iperf3."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from statistics import median

import click

from bench.offloads.network import ADDRESSES, Network, linux, missing, switch

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
# A forwarder takes at least this share of the other's rate.
GOALS = [
    *(
        (name, other, share)
        for name in (PACKET, TAP, EDGE_PACKET, EDGE_TAP)
        for other, share in ((OFF, 1.0), (ON, 0.5))
    ),
    *((name, XDP, 1.0) for name in (AF_XDP, EDGE_XDP)),
]


@click.command()
@click.option("--seconds", default=2, show_default=True, help="How long one transfer lasts.")
@click.option("--rounds", default=3, show_default=True, help="Transfers of each kind; the median counts.")
def main(seconds: int, rounds: int) -> None:
    """Measure and print; status 1 if a goal is missed."""
    lacking = missing()
    if lacking:
        click.echo(f"skipped: hosts of Linux in namespaces need {lacking}")
        return
    click.echo(
        f"TCP between two hosts over a bridge, {seconds} s, the median of {rounds}; load {os.getloadavg()[0]:.1f}"
    )
    rates: dict[str, list[list[float]]] = {name: [[], []] for name in FORWARDERS}
    for _ in range(rounds):
        for name, forwarder in FORWARDERS.items():
            with tempfile.TemporaryDirectory() as folder, forwarder(Path(folder)) as network:
                for measured, address in zip(rates[name], ADDRESSES["east"], strict=True):
                    measured.append(network.iperf(address, "-t", str(seconds)).bits_per_second / 1e9)
    medians = {name: [median(each) for each in measured] for name, measured in rates.items()}
    click.echo(f"{'Gbit/s':<36}{'IPv4':>8}{'IPv6':>8}")
    for name, (ipv4, ipv6) in medians.items():
        click.echo(f"{name:<36}{ipv4:8.2f}{ipv6:8.2f}")
    missed = [
        f"MISSED: {name} is {ours / theirs:.2f} of {other}, {protocol}; the goal is {share}"
        for name, other, share in GOALS
        for protocol, ours, theirs in zip(("IPv4", "IPv6"), medians[name], medians[other], strict=True)
        if ours < share * theirs
    ]
    click.echo("\n".join(missed))
    sys.exit(1 if missed else 0)


main()
