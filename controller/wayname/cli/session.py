"""`wayname session`: one session."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from wayname.cli.options import Asking, client_options, pass_asking
from wayname.cli.repeat import watch_option
from wayname.cli.running_names import SESSIONS

if TYPE_CHECKING:
    from wayname.client.answers import SessionAnswer

ALL_AGREED = "numbered, reported by the peer, put in order, sent again where a path lost them"
NO_ORDER = "numbered, reported by the peer; no order: the peer or this edge has no reinjection or no packet buffer"
NO_FEEDBACK = "no numbers, no reports: the peer has no [[schedule]] with feedback, or the protocol cannot say so"
NUMBER = click.Argument(["number"], type=int)


class NumberOrCommand(click.Group):
    """What is no command is a session's number: it is shown."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Put `show` before a number."""
        return super().resolve_command(ctx, ["show", *args] if args and args[0].isdigit() else args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete both."""
        return [*super().shell_complete(ctx, incomplete), *SESSIONS(ctx, NUMBER, incomplete)]


@click.group(cls=NumberOrCommand)
def command() -> None:
    """Show a session by its number (`wayname session 1`), move it or some of its flows, fork it, end a fork."""


@command.command()
@click.argument("number", type=int, shell_complete=SESSIONS)
@watch_option
@client_options
@pass_asking
def show(asking: Asking, number: int) -> None:
    """Show a session's paths and timers, and why it uses its path."""
    tell(asking, asking.client().session(number))


@command.command()
@click.argument("number", type=int, shell_complete=SESSIONS)
@click.argument("path")
@client_options
@pass_asking
def move(asking: Asking, number: int, path: str) -> None:
    """Move session NUMBER to PATH, a path's number or LOCAL,PEER. The path must be proven to work."""
    session = asking.client().move_session(number, path=path)
    tell(asking, session)
    if path.isdigit() and int(path) != session["path"]:
        print(f"it left path {path} again at once: {session['reason']}", file=sys.stderr)


@command.command()
@click.argument("number", type=int, shell_complete=SESSIONS)
@click.argument("policy")
@click.argument("path")
@client_options
@pass_asking
def prefer(asking: Asking, number: int, policy: str, path: str) -> None:
    """Send the flows of path policy POLICY by PATH in session NUMBER. PATH is a path's number or LOCAL,PEER.

    While PATH does not work, they take the session's path.
    """
    tell(asking, asking.client().prefer_path(number, policy=policy, path=path))


@command.command()
@click.argument("number", type=int, shell_complete=SESSIONS)
@click.argument("policy")
@client_options
@pass_asking
def unprefer(asking: Asking, number: int, policy: str) -> None:
    """Send the flows of path policy POLICY in session NUMBER as the configuration says."""
    tell(asking, asking.client().prefer_path(number, policy=policy))


@command.command()
@click.argument("number", type=int, shell_complete=SESSIONS)
@click.argument("local_port", type=int)
@click.argument("peer_port", type=int)
@client_options
@pass_asking
def fork(asking: Asking, number: int, local_port: int, peer_port: int) -> None:
    """Fork session NUMBER: its TCP and UDP flows between LOCAL_PORT and PEER_PORT get a session of their own.

    It is there when the peer has agreed: `wayname sessions` lists it. It has paths of its own, and may be moved alone.
    """
    tell(asking, asking.client().fork_session(number, local_port=local_port, peer_port=peer_port))


@command.command()
@click.argument("number", type=int, shell_complete=SESSIONS)
@client_options
@pass_asking
def unfork(asking: Asking, number: int) -> None:
    """End the fork NUMBER. Its flows return to their hosts' session, here and at the peer."""
    tell(asking, asking.client().unfork_session(number))


def tell(asking: Asking, session: SessionAnswer) -> None:
    """Write a session for people or for programs."""
    from wayname.cli import show as table

    if asking.json:
        table.show_json(session)
    else:
        show_session(session)


def show_session(session: SessionAnswer) -> None:
    """Write a session for people."""
    from wayname.cli import show as table

    ports = session["ports"]
    table.show_facts(
        (
            ("host", session["local"]),
            ("peer", session["peer"]),
            *([("fork of", f"session {session['fork_of']}, ports {ports[0]} and {ports[1]}")] if ports else []),
            *([("forks", " ".join(map(str, session["forks"])))] if session["forks"] else []),
            ("path", f"{session['path']} ({session['reason']})"),
            *([("flows", flows)] if (flows := _flows(session)) else []),
            *([("schedule", _scheduled(session))] if session["schedule"] else []),
            *([("packets", agreed)] if (agreed := _agreed(session)) else []),
            ("state", session["state"]),
            ("send timeout", f"{session['send_timeout']:.3g} s"),
            ("keepalive", f"{session['keepalive']:.3g} s"),
        )
    )
    print()
    rows = [
        (
            path["number"],
            path["local"],
            path["peer"],
            path["provider"] or "",
            table.good_or_bad(path["state"], path["state"] in ("works", "not tried")),
            "" if path["backup"] is None else path["backup"],
            "" if path["sent_packets"] is None else path["sent_packets"],
            "" if path["received_packets"] is None else path["received_packets"],
        )
        for path in session["paths"]
    ]
    columns = ("path", "our locator", "the peer's", "by", "state", "backup", "sent", "received")
    table.show_table(columns, rows, "no path is left")


def _flows(session: SessionAnswer) -> str:
    ways = [f"{policy} by path {path}" for policy, path in session["preferred"].items()]
    return ", ".join([*ways, *(f"{policy} in {copies} copies" for policy, copies in session["replicated"].items())])


def _agreed(session: SessionAnswer) -> str:
    """Return what its edges agreed on, where there is something to agree on."""
    if not session["numbered"]:
        return NO_FEEDBACK if session["figures"] == "feedback" else ""
    copies = "; the peer drops second copies" if session["takes_copies"] else ""
    return (ALL_AGREED if session["in_order"] else NO_ORDER) + copies


def _scheduled(session: SessionAnswer) -> str:
    return f"{session['schedule']}: packets take paths {', '.join(map(str, session['scheduled_paths']))}"
