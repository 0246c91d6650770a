"""Completion of names that only the running controller knows: of its sessions, ports, tables, providers and others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from wayname.cli.options import asking

if TYPE_CHECKING:
    from wayname.client import Client

# Who presses Tab waits for no longer, and sees no error: then there is nothing to complete.
SECONDS = 0.5

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]
Ask = Callable[["Client"], Sequence[Mapping[str, Any]]]


def names_of(ask: Ask, key: str, *about: str) -> Complete:
    """Return what completes by `key` of all that the API answers, with the values of `about` as help."""

    def complete(context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
        try:
            found = ask(asking(context).client(SECONDS))
            names = [(str(each[key]), " ".join(str(each[more]) for more in about)) for each in found]
        except Exception:  # Whatever it is, a shell shows it in the middle of a line.
            return []
        return [CompletionItem(name, help=told) for name, told in names if name.startswith(begun)]

    return complete


EDGES = names_of(lambda client: client.edges(), "edge")
SESSIONS = names_of(lambda client: client.sessions(), "number", "local", "peer")
PORTS = names_of(lambda client: client.ports(), "name", "number")
TABLES = names_of(lambda client: client.tables(), "name", "about")
SCHEDULES = names_of(lambda client: client.schedules(), "name")
PROVIDERS = names_of(lambda client: client.providers(), "name", "prefix")
ILNP_PROVIDERS = names_of(lambda client: client.ilnp_providers(), "name")
INSIDE_PREFIXES = names_of(lambda client: client.nptv6_rules(), "inside")
ENCAPSULATIONS = names_of(lambda client: client.encapsulation(), "name", "kind")
PINHOLES = names_of(lambda client: client.pinholes()["pinholes"], "inside", "protocol")
