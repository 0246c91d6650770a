"""`wayname lab`: lists labs, shows their plan, runs them."""

import asyncio
import json
import math
from typing import Any

import click
from click.shell_completion import CompletionItem

from wayname.cli.options import Asking, json_option, pass_asking
from wayname.failure import Failure
from wayname_lab.load import LabError, find_lab, lab_names
from wayname_lab.plan import plan_lab
from wayname_lab.planned import Plan
from wayname_lab.show import MEDIA, run_lab


class Seconds(click.FloatRange):
    """A time that ends: neither inf, nor nan, which is neither too little nor too much."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read a number of seconds."""
        seconds = float(super().convert(value, param, ctx))
        if not math.isfinite(seconds):
            self.fail(f"{value} is no number of seconds; write one as in 30.", param, ctx)
        return seconds


def complete_lab(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete the name of a lab, or else the path of a file."""
    return [CompletionItem(name) for name in lab_names() if name.startswith(begun)] or [CompletionItem(begun, "file")]


@click.group("lab")
def command() -> None:
    """Run a lab: a small network of hosts, edges and providers on this machine."""


@command.command("list")
@json_option
@pass_asking
def list_labs(asking: Asking) -> None:
    """List the included labs."""
    if asking.json:
        labs = [(name, find_lab(name)) for name in lab_names()]
        described = [
            {"name": name, "title": lab.title, "hosts": len(lab.hosts), "routers": len(lab.routers)}
            for name, lab in labs
        ]
        click.echo(json.dumps(described, indent=2))
        return
    for name in lab_names():
        found = find_lab(name)
        click.echo(f"{name:<16} {found.title}: {len(found.hosts)} hosts, {len(found.routers)} routers")


@command.command("plan")
@click.argument("name", shell_complete=complete_lab)
@json_option
@pass_asking
def show_plan(asking: Asking, name: str) -> None:
    """Show the addresses, ports and routes of the lab NAME (or a .toml file)."""
    plan = _plan(name)
    if asking.json:
        click.echo(json.dumps(in_json(plan), indent=2))
        return
    for router in plan.routers.values():
        click.echo(f"{'edge' if router.is_edge else 'provider'} {router.name}")
        for port in router.ports:
            click.echo(f"  port {port.number}  VLAN {port.vlan:<5} to {port.peer}")
        for interface in router.interfaces:
            for address in interface.addresses:
                click.echo(f"  {address} on VLAN {interface.vlan}")
        for route in router.routes:
            via = ", ".join(str(address) for address in route.via) or "nobody (prohibited)"
            click.echo(f"  {route.prefix} via {via}")
    for host in plan.hosts.values():
        click.echo(f"host {host.name}  {host.address}  {host.mac}  port {host.port} of {host.edge}")


@command.command("run")
@click.argument("name", default="two-sites", shell_complete=complete_lab)
@click.option(
    "--in", "medium", type=click.Choice(sorted(MEDIA)), default="wires", help="Unix sockets, or Linux (root)."
)
@click.option("--seconds", type=Seconds(min=1), help="End after so long; without it, Ctrl-C ends.")
@json_option
@pass_asking
def run(asking: Asking, name: str, medium: str, seconds: float | None) -> None:
    """Run the lab NAME (or a .toml file) with its traffic; the exit status says whether traffic flowed.

    With --json each line is an object: when (seconds), who, and what.
    """
    try:
        status = asyncio.run(run_lab(find_lab(name), medium, seconds, as_json=asking.json))
    except LabError as error:
        raise Failure(*str(error).splitlines()) from error
    raise SystemExit(status)


def in_json(plan: Plan) -> dict[str, object]:
    """The plan as `lab plan` shows it, for programs."""
    routers = [
        {
            "name": router.name,
            "is_edge": router.is_edge,
            "ports": [{"number": port.number, "vlan": port.vlan, "to": port.peer} for port in router.ports],
            "interfaces": [
                {"vlan": each.vlan, "name": each.name, "addresses": list(map(str, each.addresses))}
                for each in router.interfaces
            ],
            "routes": [{"prefix": str(route.prefix), "via": list(map(str, route.via))} for route in router.routes],
        }
        for router in plan.routers.values()
    ]
    hosts = [
        {"name": host.name, "address": str(host.address), "mac": str(host.mac), "edge": host.edge, "port": host.port}
        for host in plan.hosts.values()
    ]
    return {"routers": routers, "hosts": hosts}


def _plan(name: str) -> Plan:
    try:
        return plan_lab(find_lab(name))
    except LabError as error:
        raise Failure(*str(error).splitlines()) from error
