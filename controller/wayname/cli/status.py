"""`wayname status`."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from wayname.cli.options import Asking, client_options, pass_asking
from wayname.cli.repeat import watch_option
from wayname.cli.units import Duration
from wayname.failure import Failure

if TYPE_CHECKING:
    from wayname.client import Client

# How the switch is to a controller that does not lead its edge: nothing is wrong then.
WAITING = "waiting"
# Seconds.
ASK_AGAIN = 0.2
# The status of --wait where everything is there, and no provider works.
NO_PROVIDER = 3
# How long one is waited for, in seconds, once everything else is there: a router may answer a moment later.
PROVIDER_SECONDS = 5.0


@click.command()
@click.option("--wait", is_flag=True, help="Return when the edge is up: switch, pipeline, tables, providers.")
@click.option("--timeout", type=Duration(), help="With --wait: give up after a time, as 30 or 500ms.")
@watch_option
@client_options
@pass_asking
def command(asking: Asking, wait: bool, timeout: float | None) -> None:
    """Show the switch, the controller and the ports.

    Ends with status 1 while the switch is not ready, so where another controller of a fleet leads, and if the edge is
    not up within --timeout; with --wait also with status 3 if the edge is up and none of its providers works.
    """
    from wayname.cli import show

    if timeout is not None and not wait:
        raise click.UsageError("--timeout is for --wait")
    client = asking.client()
    if wait:
        wait_until_up(client, timeout)
    status = client.status()
    ready = status["switch"]["state"] == "ready"
    ports = client.ports() if ready else []
    providers = client.providers() if ready else []
    if asking.json:
        show.show_json({**status, "port_counters": ports, "providers": providers})
    else:
        switch = status["switch"]
        show.show_facts(
            [
                ("switch", f"{switch['address']}, device {switch['device_id']}, {switch['target']}"),
                ("state", show.good_or_bad(switch["state"], ready) if switch["state"] != WAITING else WAITING),
                ("controller", f"{status['version']}, up {timedelta(seconds=int(status['uptime']))}"),
                ("waits for", status["waits_for"] or state_line(providers)),
                *([("providers", [provider_line(each) for each in providers])] if providers else []),
                ("reconnects", switch["reconnects"]),
                ("updates", f"{switch['writes']} written, {switch['failed_writes']} refused"),
                (
                    "known",
                    f"{status['stations']} stations, {status['neighbours']} neighbours, {status['routes']} routes",
                ),
                ("events", status["events"]),
                ("captures", status["captures"]),
            ]
        )
        if ports:
            print()
            rows = [
                (
                    port["number"],
                    port["name"],
                    "" if port["up"] is None else show.good_or_bad("up" if port["up"] else "down", port["up"]),
                    port["vlan"],
                    ", ".join(map(str, port["tagged"])),
                    port["received_packets"],
                    port["received_bytes"],
                    port["sent_packets"],
                    port["sent_bytes"],
                )
                for port in ports
            ]
            columns = ("port", "name", "link", "vlan", "tagged", "received", "bytes", "sent", "bytes")
            show.show_table(columns, rows, "")
    if not ready:
        raise click.exceptions.Exit(1)
    if wait and no_provider_works(providers):
        raise click.exceptions.Exit(NO_PROVIDER)


def no_provider_works(providers: Sequence[Mapping[str, Any]]) -> bool:
    """Whether there are providers, and nothing leaves by any of them."""
    return bool(providers) and not any(each["used"] for each in providers)


def state_line(providers: Sequence[Mapping[str, Any]]) -> str:
    """What an edge is that waits for nothing."""
    if no_provider_works(providers):
        return "nothing: the edge is up, but no provider works"
    return "nothing: the edge is up"


def provider_line(provider: Mapping[str, Any]) -> str:
    """Whether a provider works, and what is wrong with it."""
    state = "up" if provider["used"] else "down"
    return f"{provider['name']} {state}: {provider['why']}" if provider["why"] else f"{provider['name']} {state}"


def wait_until_up(client: Client, timeout: float | None) -> None:
    """Return when nothing is missing any more; a controller that does not answer yet is waited for too."""
    end = None if timeout is None else time.monotonic() + timeout
    wait_until_complete(client, timeout, end)
    last = time.monotonic() + PROVIDER_SECONDS
    last = last if end is None else min(last, end)
    while time.monotonic() < last:
        # The switch may be away for a moment.
        with contextlib.suppress(Failure):
            if not no_provider_works(client.providers()):
                return
        time.sleep(ASK_AGAIN)


def wait_until_complete(client: Client, timeout: float | None, end: float | None) -> None:
    """Return when the controller misses nothing any more; fail at the end."""
    while True:
        try:
            missing = client.status()["waits_for"]
        except Failure as error:
            missing = list(error.args)
        if not missing:
            return
        if end is not None and time.monotonic() >= end:
            raise Failure(*(f"not up after {timeout:g} s: {each}" for each in missing))
        time.sleep(ASK_AGAIN)
