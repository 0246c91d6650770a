"""`wayname doctor`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wayname.cli.options import Asking, client_options, pass_asking
from wayname.config.api_address import parse_address
from wayname.failure import Failure

if TYPE_CHECKING:
    from wayname.config.model import Config
    from wayname.doctor.finding import Finding

COLOURS = {"ok": "green", "warning": "yellow", "failure": "red"}


@click.command()
@click.argument("file", type=click.Path(path_type=Path), required=False)
@client_options
@pass_asking
def command(asking: Asking, file: Path | None) -> None:
    """What this machine lacks to run an edge, each with its mend.

    With FILE also what its ports, its switch and its controller lack. Changes nothing. Ends with status 1 if something
    does not work; warnings leave it 0.
    """
    from wayname.cli.show import show_json
    from wayname.doctor.finding import State

    found = list(findings(asking, file))
    if asking.json:
        show_json([asdict(each) for each in found])
    else:
        for each in found:
            click.echo(f"{click.style(f'{each.state:8}', fg=COLOURS[each.state])} {each.check}: {each.text}")
            if each.mend:
                click.echo(f"{'':8} mend: {each.mend}")
    if any(each.state is State.FAILURE for each in found):
        raise click.exceptions.Exit(1)


def findings(asking: Asking, file: Path | None) -> Iterator[Finding]:
    """Look at everything."""
    from wayname.composition.configuration import load_config
    from wayname.config.tables import ConfigError
    from wayname.doctor.finding import failure, ok
    from wayname.doctor.machine import machine_findings
    from wayname.doctor.ports import port_findings

    yield from machine_findings()
    if file is None:
        return
    try:
        config = load_config(file)
    except ConfigError as error:
        for line in error.lines:
            yield failure("configuration", line, f"wayname check {file}")
        return
    yield ok("configuration", f"{file} has no mistakes")
    yield from port_findings(config)
    if config.fleet is not None and config.fleet.edges:
        yield from of_edges(asking, config, file)
        return
    # Of an edge whose ports are in etcd only its controller knows the switch.
    from_etcd = config.fleet is not None and not config.ports
    if not from_etcd:
        yield from asyncio.run(of_switch(config))
    yield from of_controller(asking, config, file, knows_switch=from_etcd)


async def of_switch(config: Config) -> list[Finding]:
    """Ask the switch."""
    from wayname.doctor.reach import switch_findings

    return [each async for each in switch_findings(config)]


def of_controller(asking: Asking, config: Config, file: Path, *, knows_switch: bool) -> Iterator[Finding]:
    """Ask the controller, at the address that the configuration says; of its switch too, if nobody else knows it."""
    from wayname.doctor.delegation import delegation_findings
    from wayname.doctor.finding import failure, ok
    from wayname.doctor.providers import provider_findings
    from wayname.doctor.reach import controller_findings

    asking.address = parse_address(config.api.socket)
    client = asking.client()
    try:
        status, events, providers = client.status(), client.events(), client.providers()
    except Failure as error:
        yield failure("controller", str(error), f"wayname up --config {file}")
        return
    yield from controller_findings(status, events)
    state, address = status["switch"]["state"], status["switch"]["address"]
    if state == "waiting":
        # What providers do is known to who leads.
        return
    if knows_switch and state == "ready":
        yield ok("switch", f"that at {address} answers the controller")
    yield from provider_findings(providers)
    yield from delegation_findings(providers, events, file)


def of_edges(asking: Asking, config: Config, file: Path) -> Iterator[Finding]:
    """Ask a process of each edge that it stands for, or of that of --edge; where their switches are only it knows."""
    from wayname.doctor.finding import failure

    named, asking.edge, asking.address = asking.edge, "", parse_address(config.api.socket)
    try:
        edges = asking.client().edges()
    except Failure as error:
        yield failure("controller", str(error), f"wayname up --config {file}")
        return
    wanted = [each for each in edges if named in ("", each["edge"])]
    if not wanted:
        names = ", ".join(each["edge"] for each in edges)
        yield failure(f"edge {named}", f"is none of this controller; they are {names}", "wayname edges")
    for each in wanted:
        edge = each["edge"]
        if not each["runs"]:
            yield failure(f"edge {edge}, controller", each["why"], "wayname edges")
            continue
        asking.edge = edge
        for found in of_controller(asking, config, file, knows_switch=True):
            mend = found.mend.replace("wayname events", f"wayname --edge {edge} events")
            yield replace(found, check=f"edge {edge}, {found.check}", mend=mend)
