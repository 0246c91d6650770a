"""`wayname capture`."""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from wayname.cli.options import Asking, client_options, pass_asking
from wayname.cli.running_names import PORTS
from wayname.cli.units import Duration
from wayname.failure import Failure
from wayname.private_files import make_private

if TYPE_CHECKING:
    from wayname.client.client import Direction


@click.command()
@click.argument("port", shell_complete=PORTS)
@click.option(
    "--write",
    "-w",
    "file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write a pcap file; - is standard output.",
)
@click.option("--direction", type=click.Choice(["in", "out", "both"]), default="both", show_default=True)
@click.option("--count", type=click.IntRange(min=1), metavar="N", help="End after N packets.")
@click.option("--seconds", type=Duration(0.001), metavar="TIME", help="End after a time, as 10 or 500ms.")
@client_options
@pass_asking
def command(
    asking: Asking, port: str, file: Path | None, direction: Direction, count: int | None, seconds: float | None
) -> None:
    """Capture a port's packets to a file or to tshark.

    Copies what arrives by PORT (its name or number) and what leaves by it, also what is dropped, at 2000 packets a
    second each way at most. Without -w each packet is told in a line; `wayname capture site -w - | tshark -r -` tells
    more. Ctrl-C ends it.
    """
    from wayname.cli import packets

    if asking.json and str(file) == "-":
        raise click.UsageError("--json and -w - both want standard output: name a file, or leave one out")
    written = 0
    out: BinaryIO | None = None
    try:
        client = asking.client()
        with client.capture(port, direction=direction, count=count, seconds=seconds) as chunks:
            if file is None:
                for packet in packets.read_pcap(chunks):
                    print(packets.in_json(packet) if asking.json else packets.in_words(packet), flush=True)
                return
            out = open_output(file)
            for record in packets.records(chunks):
                write(out, record, file)
                written += 1
    except KeyboardInterrupt:
        # That is how one ends a capture.
        pass
    finally:
        if out is not None and out is not sys.stdout.buffer:
            # All of it was flushed, or that failed and was told.
            with contextlib.suppress(OSError):
                out.close()
    if file is not None and asking.json:
        print(json.dumps({"file": str(file), "packets": max(0, written - 1)}))
    elif file is not None and str(file) != "-":
        click.echo(f"{max(0, written - 1)} packets in {file}", err=True)


def write(out: BinaryIO, record: bytes, file: Path) -> None:
    """Write a record at once: who reads a pipe wants to see it now."""
    try:
        out.write(record)
        out.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Failure(f"cannot write {file}: {error.strerror}; give -w another file") from None


def open_output(file: Path) -> BinaryIO:
    """Open the file, or take standard output."""
    if str(file) == "-":
        if sys.stdout.isatty():
            raise Failure("a pcap file is nothing for a terminal: give -w FILE, or a pipe behind -w -")
        return sys.stdout.buffer
    try:
        # It has what others sent: it is for the owner only.
        return open(file, "wb", opener=make_private)
    except OSError as error:
        raise Failure(f"cannot write {file}: {error.strerror}; give -w another file") from None
