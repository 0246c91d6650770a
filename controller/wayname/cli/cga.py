"""`wayname cga`: addresses that are bound to a public key."""

from __future__ import annotations

from ipaddress import IPv6Address, IPv6Network
from pathlib import Path

import click

from wayname.cli.options import Asking, json_option, pass_asking
from wayname.cli.proofs import (
    Address,
    SubnetPrefix,
    finder,
    keep,
    public_key,
    read_parameters,
    search_options,
    tell_proof,
)
from wayname.failure import Failure
from wayname.identity.errors import ParametersError
from wayname.identity.generate import generate_cga
from wayname.identity.parameters import Parameters


@click.group()
def command() -> None:
    """Make, verify and show cryptographically generated addresses (RFC 3972)."""


@command.command()
@click.argument("prefix", type=SubnetPrefix())
@click.option(
    "--key",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("cga.pem"),
    show_default=True,
    help="The owner's private key; made if it is not there.",
)
@search_options
@json_option
@pass_asking
def generate(
    asking: Asking, prefix: IPv6Network, key: Path, sec: int, threads: int, start: bytes | None, out: Path
) -> None:
    """Make an address in PREFIX, and the file ADDRESS.cga with its CGA parameters."""
    made = generate_cga(prefix, public_key(key), sec, finder(threads, start), lambda _: False)
    keep([made], out, asking.json)


@command.command()
@click.argument("address", type=Address())
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@json_option
@pass_asking
def verify(asking: Asking, address: IPv6Address, file: Path) -> None:
    """Say whether the parameters in FILE prove ADDRESS; status 1 if they do not."""
    tell_proof(address, read_parameters(file).prove, asking.json)


@command.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@json_option
@pass_asking
def show(asking: Asking, file: Path) -> None:
    """Show the parameters in FILE."""
    from wayname.cli.show import show_facts, show_json

    parameters = read_parameters(file)
    try:
        if asking.json:
            show_json({name: str(value) for name, value in _facts(parameters)})
        else:
            show_facts(_facts(parameters))
    except ParametersError as error:
        raise Failure(f"{file}: {error}") from None


def _facts(parameters: Parameters) -> list[tuple[str, object]]:
    facts: list[tuple[str, object]] = [
        ("modifier", parameters.modifier.hex()),
        ("prefix", parameters.prefix),
        ("collisions", parameters.collisions),
        ("public key", parameters.public_key.hex()),
    ]
    multi_prefix = parameters.multi_prefix
    if multi_prefix is not None:
        facts.append(("set", ", ".join(map(str, multi_prefix.prefixes))))
        facts.append(("the key is", "a public key" if multi_prefix.has_public_key else "a random number"))
    facts += [(f"extension {each.type:#06x}", each.data.hex()) for each in parameters.extensions]
    return facts
