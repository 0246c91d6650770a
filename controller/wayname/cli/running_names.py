"""Completion of names that only the running controller knows: of its sessions, ports, tables and schedules."""

from __future__ import annotations

from collections.abc import Callable

import click
from click.shell_completion import CompletionItem

from wayname.cli.options import asking

# Who presses Tab waits for no longer, and sees no error: then there is nothing to complete.
SECONDS = 0.5

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def names_of(path: str, key: str, *about: str) -> Complete:
    """Return what completes by `key` of all that the API has at a path, with the values of `about` as help."""

    def complete(context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
        return matching(context, path, key, about, begun)

    return complete


def matching(context: click.Context, path: str, key: str, about: tuple[str, ...], begun: str) -> list[CompletionItem]:
    """Ask the controller which names begin so."""
    client = asking(context).client()
    try:
        found = client.http.get(path, timeout=SECONDS).json()
        names = [(str(each[key]), " ".join(str(each[more]) for more in about)) for each in found]
    except Exception:  # Whatever it is, a shell shows it in the middle of a line.
        return []
    return [CompletionItem(name, help=told) for name, told in names if name.startswith(begun)]


SESSIONS = names_of("/v1/sessions", "number", "local", "peer")
PORTS = names_of("/v1/ports", "number", "name")
PORT_NAMES = names_of("/v1/ports", "name", "number")
TABLES = names_of("/v1/tables", "name", "about")
SCHEDULES = names_of("/v1/schedules", "name")
