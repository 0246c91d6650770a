"""What `wayname cga` and `wayname hba` share: key files, files of parameters, and a search that shows how far it is."""

from __future__ import annotations

import json
import os
import secrets
import signal
import sys
import time
from collections.abc import Callable, Sequence
from ipaddress import IPv6Address, IPv6Network
from pathlib import Path
from types import FrameType

import click

from wayname.failure import Failure
from wayname.identity.errors import ParametersError, ProofError
from wayname.identity.key_files import KeyFileError, make_key, public_half, read_key
from wayname.identity.parameters import MODIFIER_OCTETS, Parameters, sec_of
from wayname.identity.search import Progress, find_modifier

KEY_BITS = 2048
MOST_SEC = 3


class SubnetPrefix(click.ParamType[IPv6Network]):
    """A prefix of 64 bits."""

    name = "prefix"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> IPv6Network:
        """Read it."""
        if isinstance(value, IPv6Network):
            return value
        try:
            prefix = IPv6Network(str(value))
        except ValueError:
            self.fail(f"{value!r} is no prefix; write it as in 2001:db8:1:2::/64", param, ctx)
        if prefix.prefixlen != 64:
            self.fail(f"{value} has {prefix.prefixlen} bits; a subnet prefix has 64", param, ctx)
        return prefix


class Address(click.ParamType[IPv6Address]):
    """An IPv6 address."""

    name = "address"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> IPv6Address:
        """Read it."""
        try:
            return IPv6Address(str(value))
        except ValueError:
            self.fail(f"{value!r} is no IPv6 address", param, ctx)


class Modifier(click.ParamType[bytes]):
    """Where a search starts."""

    name = "hex"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> bytes:
        """Read it."""
        if isinstance(value, bytes):
            return value
        try:
            octets = bytes.fromhex(str(value))
        except ValueError:
            octets = b""
        if len(octets) != MODIFIER_OCTETS:
            self.fail(f"{value!r} are not {2 * MODIFIER_OCTETS} hexadecimal digits", param, ctx)
        return octets


def search_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add what says how to search."""
    for option in (
        click.option(
            "--sec", type=click.IntRange(0, MOST_SEC), default=1, show_default=True, help="Strength: 2^(16 SEC) tries."
        ),
        click.option("--threads", type=click.IntRange(1), default=os.cpu_count() or 1, show_default="all cores"),
        click.option(
            "--start", type=Modifier(), help="The modifier to start from, to go on with a search that was stopped."
        ),
        click.option(
            "--out", type=click.Path(path_type=Path, file_okay=False), default=Path(), help="The folder for the files."
        ),
    ):
        command = option(command)
    return command


def public_key(path: Path) -> bytes:
    """Return the public half of a key file; make the file, for its owner only, if it is not there."""
    try:
        if path.exists():
            return public_half(read_key(path))
        key = make_key(path, KEY_BITS)
    except KeyFileError as error:
        raise Failure(str(error)) from None
    click.echo(f"made a key of {KEY_BITS} bits: {path}", err=True)
    return public_half(key)


def finder(threads: int, start: bytes | None) -> Callable[[bytes, int], bytes]:
    """Return a search that tells how far it is, and on Ctrl-C where it would go on."""

    def find(tail: bytes, sec: int) -> bytes:
        stopped: list[int] = []

        def stop(number: int, _frame: FrameType | None) -> None:
            stopped.append(number)

        began = time.monotonic()
        latest: list[Progress] = []

        def go_on(progress: Progress) -> bool:
            latest[:] = [progress]
            if sys.stderr.isatty():
                click.echo(f"\r{_text(progress, time.monotonic() - began)}\033[K", err=True, nl=False)
            return not stopped

        before = signal.signal(signal.SIGINT, stop)
        try:
            modifier = find_modifier(tail, sec, start or secrets.token_bytes(MODIFIER_OCTETS), threads, go_on)
        finally:
            signal.signal(signal.SIGINT, before)
            if latest and sys.stderr.isatty():
                click.echo(err=True)
        if modifier is None:
            raise Failure(f"stopped after {latest[0].tried} tries; --start {latest[0].next.hex()} goes on")
        return modifier

    return find


def _text(progress: Progress, seconds: float) -> str:
    rate = progress.tried / seconds
    left = progress.expected / rate
    return (
        f"{progress.tried / 1e6:.0f} million tries, {rate / 1e6:.1f} million a second; on average"
        f" {progress.expected / 1e6:.0f} million ({_duration(left)}), so {progress.chance_so_far:.0%} are over by now"
    )


def _duration(seconds: float) -> str:
    for unit, length in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} seconds"


def keep(made: Sequence[tuple[IPv6Address, Parameters]], folder: Path, as_json: bool) -> None:
    """Write the parameters of each address to a file of its own, and say so."""
    kept: list[dict[str, str]] = []
    for address, parameters in made:
        path = folder / f"{address}.cga"
        try:
            path.write_bytes(parameters.encode())
        except OSError as error:
            raise Failure(f"{path}: {error.strerror}; choose another folder with --out") from None
        kept.append({"address": str(address), "file": str(path)})
    if as_json:
        click.echo(json.dumps(kept, indent=2))
    else:
        for each in kept:
            click.echo(f"{each['address']}  {each['file']}")


def read_parameters(path: Path) -> Parameters:
    """Read a file of parameters."""
    try:
        return Parameters.decode(path.read_bytes())
    except OSError as error:
        raise Failure(f"{path}: {error.strerror}") from None
    except ParametersError as error:
        raise Failure(f"{path}: {error}; these are no CGA Parameters") from None


def tell_proof(address: IPv6Address, prove: Callable[[IPv6Address], None], as_json: bool) -> None:
    """Say whether an address is proved."""
    try:
        prove(address)
    except (ProofError, ParametersError) as error:
        raise Failure(str(error)) from None
    if as_json:
        click.echo(json.dumps({"address": str(address), "proved": True, "sec": sec_of(address)}))
    else:
        click.echo(f"{address} is proved, with Sec {sec_of(address)}")
