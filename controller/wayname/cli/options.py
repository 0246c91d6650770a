"""Options that every command which asks the controller takes, before or behind its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wayname.config.api_address import ApiAddress, default_address, parse_address

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from wayname.client import Client, Credentials


@dataclass(slots=True)
class Asking:
    """How to ask the controller and how to tell its answers."""

    address: ApiAddress = field(default_factory=default_address)
    json: bool = False
    # Of which of several edges that the controller stands for.
    edge: str = ""
    # Who asks over TCP: by the fields of `wayname.client.Credentials`.
    credential_files: dict[str, Path] = field(default_factory=dict)

    def client(self, seconds: float = 30.0) -> Client:
        """Connect to the controller; httpx takes a while to load, so only who needs it does."""
        from wayname.client import Client

        return Client(self.address, self.credentials(), seconds=seconds, edge=self.edge)

    def credentials(self) -> Credentials:
        """Who asks over TCP, and whom to believe there."""
        from wayname.client import Credentials

        return Credentials(**self.credential_files)


def asking(context: click.Context) -> Asking:
    """Return what was said so far."""
    return context.ensure_object(Asking)


def take_address(context: click.Context, _option: click.Parameter, value: str | None) -> None:
    """Keep --api."""
    if value is not None:
        try:
            asking(context).address = parse_address(value.removeprefix("https://").rstrip("/"))
        except ValueError as error:
            raise click.BadParameter(str(error), context) from None


def take_json(context: click.Context, _option: click.Parameter, value: bool) -> None:
    """Keep --json."""
    if value:
        asking(context).json = True


def take_edge(context: click.Context, _option: click.Parameter, value: str | None) -> None:
    """Keep --edge."""
    if value is not None:
        asking(context).edge = value


def complete_edges(context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete the name of one of several edges."""
    from wayname.cli.running_names import EDGES

    asking(context).edge = ""
    return EDGES(context, _parameter, begun)


def client_options(command: Callable[..., Any], *, is_outermost: bool = False) -> Callable[..., Any]:
    """Add --api, --edge and --json; variables of the environment count least: only the outermost command reads them."""
    api = click.option(
        "--api",
        metavar="ADDRESS",
        envvar="WAYNAME_API" if is_outermost else None,
        expose_value=False,
        callback=take_address,
        help=f"The controller's API: unix:PATH or https://HOST:PORT; else $WAYNAME_API, else {default_address()}.",
    )
    edge = click.option(
        "--edge",
        metavar="NAME",
        envvar="WAYNAME_EDGE" if is_outermost else None,
        expose_value=False,
        callback=take_edge,
        shell_complete=complete_edges,
        help="Which edge, where the controller stands for several; else $WAYNAME_EDGE.",
    )
    return api(edge(json_option(command)))


def json_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --json alone, to a command that asks nobody."""
    return click.option("--json", is_flag=True, expose_value=False, callback=take_json, help="JSON, for programs.")(
        command
    )


def take_credential(context: click.Context, option: click.Parameter, value: Path | None) -> None:
    """Keep a file of credentials."""
    if value is not None and option.name is not None:
        asking(context).credential_files[option.name] = value


def credential(name: str, field_name: str, variable: str, help: str) -> Callable[[Callable[..., Any]], Any]:
    """An option that names a file of credentials."""
    return click.option(
        name,
        field_name,
        type=click.Path(path_type=Path, dir_okay=False),
        envvar=variable,
        expose_value=False,
        callback=take_credential,
        help=f"{help}; else ${variable}.",
    )


def environment_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add them to the outermost command, with those that say who asks."""
    for option in (
        credential("--key", "key", "WAYNAME_KEY", "The key of --cert"),
        credential("--cert", "certificate", "WAYNAME_CERT", "Over TCP: a client certificate (PEM), instead of a token"),
        credential("--ca", "ca", "WAYNAME_CA", "Over TCP: the authority of the API's certificate (PEM)"),
        credential("--token-file", "token", "WAYNAME_TOKEN_FILE", "Over TCP: the file with your token"),
    ):
        command = option(command)
    return client_options(command, is_outermost=True)


pass_asking = click.make_pass_decorator(Asking, ensure=True)
