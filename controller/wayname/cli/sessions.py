"""`wayname sessions`."""

from __future__ import annotations

import click

from wayname.cli.options import Asking, client_options, pass_asking


@click.command()
@client_options
@pass_asking
def command(asking: Asking) -> None:
    """List sessions: hosts, peers, and the paths between them."""
    from wayname.cli import show

    sessions = asking.client().sessions()
    if asking.json:
        show.show_json(sessions)
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
    show.show_table(("session", "host", "peer", "path", "because", "state"), rows, "there is no session")
