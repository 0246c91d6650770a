"""`wayname events`."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import click

from wayname.cli.options import Asking, client_options, pass_asking
from wayname.escape import escaped

STYLES = {"info": "", "warning": "yellow", "error": "red"}


@click.command()
@click.option("--follow", "-f", is_flag=True, help="Print new events until Ctrl-C.")
@click.option("--since", type=click.IntRange(min=0), default=0, metavar="NUMBER", help="Only events after this number.")
@client_options
@pass_asking
def command(asking: Asking, follow: bool, since: int) -> None:
    """Show events; --follow prints new ones.

    The controller stores the last ones (`events` in [controller]). With --json, each event is one line.
    """
    from wayname.cli import show

    out = show.console()
    client = asking.client()
    try:
        with client.stream("/v1/events", {"since": since, "follow": str(follow).lower()}, endless=follow) as response:
            events = map(json.loads, response.iter_lines()) if follow else json.loads(response.read())
            for event in events:
                if asking.json:
                    print(json.dumps(event), flush=True)
                else:
                    out.print(in_words(event), style=STYLES.get(event["severity"], ""), soft_wrap=True)
    except KeyboardInterrupt:
        # That is how one stops to follow.
        return


def in_words(event: dict[str, Any]) -> str:
    """An event in a line."""
    at = datetime.fromisoformat(event["time"]).astimezone().strftime("%H:%M:%S.%f")[:-3]
    return escaped(f"{event['sequence']:>5}  {at}  {event['kind']:<18}  {event['text']}")
