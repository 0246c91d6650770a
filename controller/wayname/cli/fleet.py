"""`wayname fleet`."""

from __future__ import annotations

import json
from pathlib import Path

import click

from wayname.cli.failure import Failure
from wayname.cli.options import Asking, json_option, pass_asking
from wayname.private_files import make_private


@click.group()
def command() -> None:
    """A fleet: several controllers with one truth in etcd."""


@command.command()
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the key to this file, for its owner only, in place of the screen.",
)
@json_option
@pass_asking
def key(asking: Asking, out: Path | None) -> None:
    """Make a key that seals what controllers keep in etcd.

    All controllers of a fleet have the same file, named by fleet.sealing_key. To replace a key write the new one above
    the old one: the first line seals, all lines open.
    """
    from wayname.fleet.sealing import new_key

    made = new_key()
    if out is not None:
        try:
            with open(out, "x", encoding="ascii", opener=make_private) as file:
                file.write(f"{made}\n")
        except FileExistsError:
            raise Failure(f"{out} is there already; name another file") from None
        except OSError as error:
            raise Failure(f"{out} cannot be written ({error.strerror}); name another file") from None
    if asking.json:
        click.echo(json.dumps({"key": made} if out is None else {"file": str(out)}))
    elif out is None:
        click.echo(made)
