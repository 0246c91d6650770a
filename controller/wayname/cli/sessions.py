"""`wayname sessions`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from wayname.cli.filters import is_in, network
from wayname.cli.options import Asking, client_options, pass_asking
from wayname.cli.repeat import watch_option
from wayname.cli.running_names import PROVIDERS

if TYPE_CHECKING:
    from wayname.client.answers import SessionAnswer, SessionTrigger


@click.command()
@click.option("--host", metavar="ADDRESS", help="Only those of this host, or of hosts in a prefix.")
@click.option("--peer", metavar="ADDRESS", help="Only those with this peer, or with peers in a prefix.")
@click.option("--provider", metavar="NAME", shell_complete=PROVIDERS, help="Only those whose path is by it.")
@click.option("--state", help="Only those in this state.")
@watch_option
@client_options
@pass_asking
def command(asking: Asking, host: str | None, peer: str | None, provider: str | None, state: str | None) -> None:
    """List sessions: hosts, peers, and the paths between them."""
    from wayname.cli import show

    hosts, peers = network(host, "--host"), network(peer, "--peer")
    client = asking.client()
    known = client.sessions()
    sessions = [
        each
        for each in known
        if is_in(hosts, each["local"])
        and is_in(peers, each["peer"])
        and provider in (None, *providers_of(each))
        and state in (None, each["state"])
    ]
    if asking.json:
        show.show_json(sessions)
        return
    if not sessions:
        print("no session is as you ask" if known else why_none(client.session_triggers()))
        return
    rows = []
    for session in sessions:
        path = next(each for each in session["paths"] if each["number"] == session["path"])
        way = f"{session['path']} of {len(session['paths'])}, by {path['provider'] or 'the main routes'}"
        why = session["reason"]
        if session["schedule"]:
            paths = session["scheduled_paths"]
            way, why = f"{len(paths)} of {len(session['paths'])} at once", f"schedule {session['schedule']}"
        rows.append((session["number"], session["local"], session["peer"], way, why, session["state"]))
    show.show_table(("session", "host", "peer", "path", "because", "state"), rows, "")


def providers_of(session: SessionAnswer) -> set[str | None]:
    """The providers by which a session's packets leave."""
    used = {session["path"], *session["scheduled_paths"]} if session["schedule"] else {session["path"]}
    return {path["provider"] for path in session["paths"] if path["number"] in used}


def why_none(triggers: Sequence[SessionTrigger]) -> str:
    """Why there is no session, and what makes one."""
    if not triggers:
        return "there is no session: this edge speaks no protocol with sessions (Shim6, ILNP, HIP)"
    needs = dict.fromkeys(filter(None, map(in_words, triggers)))
    if not needs:
        return "there is no session: this edge leaves it to its hosts, or to their peers, to begin one"
    return f"there is no session yet: two hosts get one {'; '.join(needs)}"


def in_words(trigger: SessionTrigger) -> str:
    """When two hosts get a session; empty if the edge begins none."""
    protocol = trigger["protocol"].upper() if trigger["protocol"] != "shim6" else "Shim6"
    if trigger["rule"]:
        return f"when the rule {trigger['rule']} says so ({protocol})"
    parts = [f"{trigger['bytes']} octets"] if trigger["bytes"] else []
    parts += [f"{trigger['seconds']:g} s"] if trigger["seconds"] else []
    return f"after {' or '.join(parts)} of talk ({protocol})" if parts else ""
