"""Options that every command which asks the controller takes, before or behind its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from wayname.config.api_address import ApiAddress, default_address, parse_address

if TYPE_CHECKING:
    from wayname.cli.client import Client


@dataclass(slots=True)
class Asking:
    """How to ask the controller and how to tell its answers."""

    address: ApiAddress = field(default_factory=default_address)
    json: bool = False

    def client(self) -> Client:
        """Connect to the controller; httpx takes a while to load, so only who needs it does."""
        from wayname.cli.client import Client

        return Client(self.address)


def asking(context: click.Context) -> Asking:
    """Return what was said so far."""
    return context.ensure_object(Asking)


def take_address(context: click.Context, _option: click.Parameter, value: str | None) -> None:
    """Keep --api."""
    if value is not None:
        try:
            asking(context).address = parse_address(value)
        except ValueError as error:
            raise click.BadParameter(str(error), context) from None


def take_json(context: click.Context, _option: click.Parameter, value: bool) -> None:
    """Keep --json."""
    if value:
        asking(context).json = True


def client_options(command: Callable[..., Any], variable: str | None = None) -> Callable[..., Any]:
    """Add --api and --json; the environment's variable counts least, so only the outermost command reads it."""
    api = click.option(
        "--api",
        metavar="ADDRESS",
        envvar=variable,
        expose_value=False,
        callback=take_address,
        help=f"The controller's API: HOST:PORT or unix:PATH; else $WAYNAME_API, else {default_address()}.",
    )
    json = click.option("--json", is_flag=True, expose_value=False, callback=take_json, help="JSON, for programs.")
    return api(json(command))


def environment_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add them to the outermost command."""
    return client_options(command, "WAYNAME_API")


pass_asking = click.make_pass_decorator(Asking, ensure=True)
