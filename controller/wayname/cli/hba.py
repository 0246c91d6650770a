"""`wayname hba`: sets of addresses that prove each other."""

from __future__ import annotations

import random
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
from wayname.identity.generate import generate_hba


@click.group()
def command() -> None:
    """Make and verify sets of hash-based addresses (RFC 5535)."""


@command.command()
@click.argument("prefixes", type=SubnetPrefix(), nargs=-1, required=True)
@click.option(
    "--key",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A private key, made if it is not there: the addresses are CGAs as well.",
)
@search_options
@json_option
@pass_asking
def generate(
    asking: Asking,
    prefixes: tuple[IPv6Network, ...],
    key: Path | None,
    sec: int,
    threads: int,
    start: bytes | None,
    out: Path,
) -> None:
    """Make a set with an address in each of PREFIXES, and the files ADDRESS.cga with their CGA parameters."""
    owner = public_key(key) if key else None
    find = finder(threads, start)
    keep(generate_hba(prefixes, owner, sec, find, lambda _: False, random.SystemRandom()), out, asking.json)


@command.command()
@click.argument("address", type=Address())
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@json_option
@pass_asking
def verify(asking: Asking, address: IPv6Address, file: Path) -> None:
    """Say whether ADDRESS belongs to the set that the parameters in FILE define; status 1 if it does not."""
    tell_proof(address, read_parameters(file).prove_member, asking.json)
