"""`wayname status`."""

from __future__ import annotations

from datetime import timedelta

import click

from wayname.cli.options import Asking, client_options, pass_asking


@click.command()
@client_options
@pass_asking
def command(asking: Asking) -> None:
    """The switch, the controller and the ports.

    Ends with status 1 while the switch is not ready.
    """
    from wayname.cli import show

    client = asking.client()
    status = client.get("/v1/status")
    ready = status["switch"]["state"] == "ready"
    ports = client.get("/v1/ports") if ready else []
    if asking.json:
        show.show_json({**status, "port_counters": ports})
    else:
        switch = status["switch"]
        show.show_facts(
            [
                ("switch", f"{switch['address']}, device {switch['device_id']}, {switch['target']}"),
                ("state", show.good_or_bad(switch["state"], ready)),
                ("controller", f"{status['version']}, up {timedelta(seconds=int(status['uptime']))}"),
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
                    port["vlan"],
                    ", ".join(map(str, port["tagged"])),
                    port["received_packets"],
                    port["received_bytes"],
                    port["sent_packets"],
                    port["sent_bytes"],
                )
                for port in ports
            ]
            columns = ("port", "name", "vlan", "tagged", "received", "bytes", "sent", "bytes")
            show.show_table(columns, rows, "")
    if not ready:
        raise click.exceptions.Exit(1)
