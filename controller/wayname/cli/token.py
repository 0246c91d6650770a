"""`wayname token`."""

from __future__ import annotations

import hashlib
import json
import secrets
from pathlib import Path

import click

from wayname.cli.options import Asking, json_option, pass_asking
from wayname.config.api import Role
from wayname.failure import Failure
from wayname.private_files import make_private

OCTETS = 32


@click.group()
def command() -> None:
    """Make tokens, with which the API is asked over TCP."""


@command.command()
@click.argument("name")
@click.option(
    "--role",
    "roles",
    # By their values: of an enumeration itself click takes the names of members, READ and not read.
    type=click.Choice([role.value for role in Role]),
    multiple=True,
    default=(Role.READ.value,),
    show_default=True,
    help="What it lets its owner do; may be given several times.",
)
@click.option(
    "--edge",
    "edges",
    metavar="NAME",
    multiple=True,
    help="For this edge of a controller that stands for several; may be given several times. Else for all.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the token to this file, for its owner only, in place of the screen.",
)
@json_option
@pass_asking
def new(asking: Asking, name: str, roles: tuple[str, ...], edges: tuple[str, ...], out: Path | None) -> None:
    """Make a token; NAME says in events who it is.

    Prints the token once, and the lines for the configuration, which have its hash alone. `wayname reload` then has
    the controller know it.
    """
    token = secrets.token_urlsafe(OCTETS)
    if out is not None:
        _write(out, token)
    # Before the command's name it stands for one.
    allowed = {"roles": list(dict.fromkeys(roles))}
    if edges := edges or tuple(filter(None, [asking.edge])):
        allowed["edges"] = list(dict.fromkeys(edges))
    digest = hashlib.sha256(token.encode()).hexdigest()
    if asking.json:
        said = {"token": token} if out is None else {"file": str(out)}
        click.echo(json.dumps({"name": name, **allowed, "sha256": digest, **said}))
        return
    if out is None:
        click.echo(f"{token}\n")
    lists = "\n".join(f"{key} = {json.dumps(names)}" for key, names in allowed.items())
    click.echo(f'[[api.token]]\nname = {json.dumps(name)}\n{lists}\nsha256 = "{digest}"')


def _write(path: Path, token: str) -> None:
    try:
        with open(path, "x", encoding="ascii", opener=make_private) as file:
            file.write(f"{token}\n")
    except FileExistsError:
        raise Failure(f"{path} is there already; name another file") from None
    except OSError as error:
        raise Failure(f"{path} cannot be written ({error.strerror}); name another file") from None
