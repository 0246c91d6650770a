"""`wayname identities`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from wayname.cli.options import Asking, client_options, pass_asking
from wayname.cli.repeat import watch_option

if TYPE_CHECKING:
    from wayname.client.answers import HostLocator, HostPrefix


@click.command()
@watch_option
@client_options
@pass_asking
def command(asking: Asking) -> None:
    """Show hosts' identities (CGA, HBA), their locators, and how long these are valid.

    A locator of a hash-based set proves itself. One marked `signed` needs the edge's signature.
    """
    from wayname.cli import show

    book = asking.client().identities()
    if asking.json:
        show.show_json(book)
        return
    if not book["links"]:
        print("no identities are configured")
        return
    rows = [
        (link["interface"], link["form"], link["hosts"], link["prepared"], list(map(_prefix, link["prefixes"])))
        for link in book["links"]
    ]
    show.show_table(("link", "form", "hosts", "prepared", "prefixes"), rows, "")
    print()
    hosts = [
        (
            host["interface"],
            host["mac"] or "",
            host["host"],
            host["addresses"],
            list(map(_locator, host["locators"])),
            host["sec"],
            host["state"] if host["seconds"] is None else f"{host['state']}, {_duration(host['seconds'])} left",
        )
        for host in book["hosts"]
    ]
    columns = ("link", "mac", "host", "identity", "locators", "sec", "lease")
    show.show_table(columns, hosts, "no host has an identity yet")


def _prefix(prefix: HostPrefix) -> str:
    left = "" if prefix["seconds"] is None else f", {_duration(prefix['seconds'])} left"
    return f"{prefix['prefix']} {prefix['state']}{left}"


def _locator(locator: HostLocator) -> str:
    return f"{locator['address']} signed" if locator["proof"] == "signature" else locator["address"]


def _duration(seconds: float) -> str:
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"
