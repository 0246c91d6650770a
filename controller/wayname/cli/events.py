"""`wayname events`."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING

import click

from wayname.cli.options import Asking, client_options, pass_asking
from wayname.escape import escaped

if TYPE_CHECKING:
    from wayname.client.answers import Event

STYLES = {"info": "", "warning": "yellow", "error": "red"}


@click.command()
@click.option("--follow", "-f", is_flag=True, help="Print new events until Ctrl-C.")
@click.option("--since", type=click.IntRange(min=0), default=0, metavar="NUMBER", help="Only events after this number.")
@click.option("--kind", metavar="KIND", help="Only these, as session.moved, or all of a subject, as session.")
@click.option("--severity", type=click.Choice(list(STYLES)), help="Only these and worse ones.")
@client_options
@pass_asking
def command(asking: Asking, follow: bool, since: int, kind: str | None, severity: str | None) -> None:
    """Show events; --follow prints new ones.

    The controller stores the last ones (`events` in [controller]). With --json, each event is one line.
    """
    from wayname.cli import show

    out = show.console()
    client = asking.client()
    try:
        for event in client.follow_events(since) if follow else client.events(since=since):
            if not is_wanted(event, kind, severity):
                continue
            if asking.json:
                print(json.dumps(event), flush=True)
            else:
                out.print(in_words(event), style=STYLES.get(event["severity"], ""), soft_wrap=True)
    except KeyboardInterrupt:
        # That is how one stops to follow.
        return


def is_wanted(event: Event, kind: str | None, severity: str | None) -> bool:
    """Whether an event is of a kind, and at least so bad."""
    worse = list(STYLES)
    is_bad = severity is None or worse.index(event["severity"]) >= worse.index(severity)
    return is_bad and (kind is None or event["kind"] == kind or event["kind"].startswith(f"{kind}."))


def in_words(event: Event) -> str:
    """An event in a line."""
    at = datetime.fromisoformat(event["time"]).astimezone().strftime("%H:%M:%S.%f")[:-3]
    return escaped(f"{event['sequence']:>5}  {at}  {event['kind']:<18}  {event['text']}")
