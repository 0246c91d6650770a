"""`wayname ioam`: traces, and what they tell of paths."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import click

from wayname.cli.options import Asking, client_options, pass_asking
from wayname.cli.repeat import watch_option


@click.group()
def command() -> None:
    """IOAM telemetry: traces; delay, jitter and loss of paths."""


@command.command("paths")
@watch_option
@client_options
@pass_asking
def paths_command(asking: Asking) -> None:
    """Show delay, jitter and queues of each path and each node.

    Delay is from the first node to the last, and needs synchronized clocks. Jitter does not.
    """
    from wayname.cli import show

    paths = asking.client().ioam_paths()
    if asking.json:
        show.show_json(paths)
        return
    rows: list[tuple[object, ...]] = []
    for path in paths:
        jitter = "" if path["jitter"] is None else in_time(path["jitter"])
        at, figures = path["last"][11:23], (delay(path["delay"]), jitter, delay(path["inside"]), queue(path["queue"]))
        rows.append((path["id"], path["count"], at, *figures, ""))
        for node in path["nodes"]:
            ports = " ".join("-" if port is None else str(port) for port in (node["ingress"], node["egress"]))
            rows.append((f"  {node['node']:x}", "", "", "", "", delay(node["delay"]), queue(node["queue"]), ports))
    columns = ("path, node", "traces", "last", "delay", "jitter", "inside", "queue", "ports")
    show.show_table(columns, rows, "no trace ended here yet")


@command.command("exports")
@watch_option
@client_options
@pass_asking
def exports_command(asking: Asking) -> None:
    """Show flows with direct export, and their loss on the way to this node."""
    from wayname.cli import show

    flows = asking.client().ioam_exports()
    if asking.json:
        show.show_json(flows)
        return
    rows = [
        (
            f"{flow['node']:x}",
            flow["namespace"],
            flow["flow"],
            flow["seen"],
            flow["lost"],
            flow["restarts"],
            flow["ingress"],
            flow["egress"],
            flow["last"][11:23],
        )
        for flow in flows
    ]
    columns = ("node", "namespace", "flow", "seen", "lost", "restarts", "ingress", "egress", "last")
    show.show_table(columns, rows, "no packet asked for direct export yet")


@command.command("traces")
@watch_option
@client_options
@pass_asking
def traces_command(asking: Asking) -> None:
    """Show the traces that this node inserts into packets."""
    from wayname.cli import show

    traces = asking.client().ioam_traces()
    if asking.json:
        show.show_json(traces)
        return
    columns = ("trace", "kind", "namespace", "octets", "share", "packets", "fields")
    rows = [(*(trace.get(key, trace["name"]) for key in columns[:-1]), " ".join(trace["fields"])) for trace in traces]
    show.show_table(columns, rows, "packets get no traces")


@command.command("namespaces")
@watch_option
@client_options
@pass_asking
def namespaces_command(asking: Asking) -> None:
    """Show IOAM namespaces: this node's ids in each."""
    from wayname.cli import show

    namespaces = asking.client().ioam_namespaces()
    if asking.json:
        show.show_json(namespaces)
        return
    rows = [
        (
            each["id"],
            f"{each['node']:x}",
            f"{each['node_wide']:x}",
            " ".join(map(str, each["ports"])),
            each["traces"],
            each["exports"],
        )
        for each in namespaces
    ]
    show.show_table(("id", "node", "wide", "ports", "traces", "exports"), rows, "no namespace is known")


@command.command("records")
@click.option("--follow", "-f", is_flag=True, help="Print new ones until Ctrl-C.")
@click.option("--since", type=click.IntRange(min=0), default=0, metavar="NUMBER", help="Only those after this number.")
@client_options
@pass_asking
def records_command(asking: Asking, follow: bool, since: int) -> None:
    """Print the last traces that ended here, one JSON object a line."""
    client = asking.client()
    try:
        for record in client.ioam_follow_records(since) if follow else client.ioam_records(since=since):
            print(json.dumps(record), flush=True)
    except KeyboardInterrupt:
        # That is how one stops to follow.
        return


def delay(values: Mapping[str, Any] | None) -> str:
    """A delay: smoothed, and between what it was."""
    if values is None:
        return ""
    return f"{in_time(values['smoothed'])} ({in_time(values['least'])} to {in_time(values['most'])})"


def in_time(nanoseconds: float) -> str:
    """A time in a unit that fits."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        # What would be rounded to 1000 of the next smaller unit is 1 of this one.
        if abs(nanoseconds) >= 0.9995 * size:
            value = nanoseconds / size
            return f"{_short(value, 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0)} {unit}"
    return f"{_short(nanoseconds / 1e3, 1)} us"


def queue(values: Mapping[str, Any] | None) -> str:
    """A queue: smoothed, and the longest it was."""
    return "" if values is None else f"{_short(values['smoothed'], 1)} ({values['most']})"


def _short(value: float, digits: int) -> str:
    """A number without zeros that say nothing, and never in powers of ten."""
    text = f"{value:.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text
