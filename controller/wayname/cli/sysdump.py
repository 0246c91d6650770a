"""`wayname sysdump`."""

from __future__ import annotations

import io
import json
import subprocess
import tarfile
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click

from wayname.cli.options import Asking, client_options, pass_asking
from wayname.cli.version import versions
from wayname.failure import Failure
from wayname.private_files import make_private

if TYPE_CHECKING:
    from wayname.client import Client
    from wayname.client.client import EdgeAnswer

SECONDS = 20
MOST_OCTETS = 16 * 2**20
HIDDEN = "..."
# Keys of the configuration whose values nobody else may know; some are names of files, which nobody needs.
SECRETS = frozenset(("key",))
# Whole tables of the switch beside their sizes: those that say where packets go.
TABLES = (
    "ports",
    "vlan_members",
    "interfaces",
    "routes",
    "nexthops",
    "ecmp_groups",
    "neighbours",
    "own_addresses",
    "fdb",
)
KERNEL = (
    "uname -a",
    "ip -details -statistics link show",
    "ip address show",
    "ip -4 route show table all",
    "ip -6 route show table all",
    "ip -6 neighbour show",
    "ss --summary",
    "sysctl net.ipv6.conf",
    "journalctl --no-pager --lines 5000 --unit wayname*",
)
FILES = ("/proc/meminfo", "/proc/loadavg", "/proc/net/dev", "/proc/net/snmp6", "/etc/os-release")


@click.command()
@click.option("--output", "-o", type=click.Path(path_type=Path), help="The file; else wayname-TIME.tar.gz here.")
@click.option("--config", "-c", type=click.Path(path_type=Path), help="The configuration; secrets are left out of it.")
@click.option("--log", "logs", type=click.Path(path_type=Path), multiple=True, help="A log to add. May be repeated.")
@client_options
@pass_asking
def command(asking: Asking, output: Path | None, config: Path | None, logs: tuple[Path, ...]) -> None:
    """Write all that a bug report needs into one file.

    Versions, status, tables, metrics, drops, events, the kernel's network, and logs of the units; the configuration
    without its secrets. Of a controller that stands for several edges each of them, or that of --edge. Packets are not
    in it, addresses and names of hosts are. MISSING names what could not be had.
    """
    output = output or Path(f"wayname-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.tar.gz")
    missing: list[str] = []
    try:
        with open(output, "xb", opener=make_private) as file, tarfile.open(fileobj=file, mode="w:gz") as archive:
            for name, text in parts(asking, config, logs, missing):
                add(archive, name, text)
            add(archive, "MISSING", "".join(f"{line}\n" for line in missing))
    except FileExistsError:
        raise Failure(f"{output} is there already, and is not overwritten: name another file") from None
    except OSError as error:
        raise Failure(f"{output}: cannot be written ({error.strerror}); name another file with --output") from None
    if asking.json:
        print(json.dumps({"file": str(output), "bytes": output.stat().st_size, "missing": missing}))
        return
    print(f"{output} is written ({output.stat().st_size // 1024 + 1} KiB); read it before you give it to others")
    if missing:
        print(f"not in it: {len(missing)} parts, which MISSING names")


def parts(asking: Asking, config: Path | None, logs: tuple[Path, ...], missing: list[str]) -> Iterator[tuple[str, str]]:
    """Yield names and texts; note what cannot be had."""
    yield "version.json", json.dumps(versions(asking), indent=1)
    if config is not None:
        yield from configuration(config, missing)
    edges = edges_of(asking)
    if edges is None:
        yield from answers(asking.client(), missing)
    else:
        yield "api/edges.json", json.dumps(edges, indent=1)
    for edge in edges or []:
        if not edge["runs"]:
            missing.append(f"edge {edge['edge']}: {edge['why']}")
            continue
        for name, text in answers(replace(asking, edge=edge["edge"]).client(), missing):
            yield f"edges/{quote(edge['edge'], safe='')}/{name}", text
    for line in KERNEL:
        yield from output_of(line.split(), missing)
    for path in (*map(Path, FILES), *logs):
        try:
            yield f"files/{path.name}", end_of(path)
        except OSError as error:
            missing.append(f"{path}: {error.strerror}")


def edges_of(asking: Asking) -> list[EdgeAnswer] | None:
    """Return the edges of a controller that stands for several, if none of them is named."""
    if asking.edge:
        return None
    try:
        return asking.client().edges()
    except Failure:
        # It stands for one, or does not answer; who asks it for more is told.
        return None


def answers(client: Client, missing: list[str]) -> Iterator[tuple[str, str]]:
    """Yield what the controller answers to every question that needs no more words, its tables, and its metrics."""
    try:
        described = client.get("/openapi.json")["paths"]
    except Failure as error:
        missing.append(f"api: {error}")
        return
    asked = [path for path, ways in described.items() if path.startswith("/v1/") and "get" in ways and "{" not in path]
    for path in (*asked, *(f"/v1/tables/{table}" for table in TABLES)):
        name = path.removeprefix("/v1/").replace("/", "-")
        try:
            yield f"api/{name}.json", json.dumps(client.get(path), indent=1)
        except Failure as error:
            missing.append(f"api/{name}: {error}")
    try:
        yield "metrics", client.metrics()
    except Failure as error:
        missing.append(f"metrics: {error}")


def configuration(file: Path, missing: list[str]) -> Iterator[tuple[str, str]]:
    """Yield a configuration without secrets and comments; what is no TOML may have secrets anywhere, and stays out."""
    import tomli_w

    from wayname.cli.files import read_toml

    try:
        yield "edge.toml", tomli_w.dumps(without_secrets(read_toml(file)))
    except Failure as error:
        missing.append(f"configuration: {error}")


def without_secrets(value: Any) -> Any:
    """Return tables with secrets hidden."""
    if isinstance(value, dict):
        return {key: HIDDEN if key in SECRETS else without_secrets(inner) for key, inner in value.items()}
    return [without_secrets(inner) for inner in value] if isinstance(value, list) else value


def output_of(words: list[str], missing: list[str]) -> Iterator[tuple[str, str]]:
    """Yield what a command writes."""
    try:
        done = subprocess.run(words, capture_output=True, timeout=SECONDS, check=True)
        yield f"commands/{'-'.join(words[:3]).replace('/', '-')}", done.stdout[-MOST_OCTETS:].decode(errors="replace")
    except (OSError, subprocess.SubprocessError) as error:
        missing.append(f"{' '.join(words)}: {error}")


def end_of(path: Path) -> str:
    """Return a file, or the end of a long one."""
    with path.open("rb") as file:
        if path.stat().st_size > MOST_OCTETS:
            file.seek(-MOST_OCTETS, io.SEEK_END)
        return file.read(MOST_OCTETS).decode(errors="replace")


def add(archive: tarfile.TarFile, name: str, text: str) -> None:
    """Add a file to the archive, below one folder."""
    octets = text.encode()
    member = tarfile.TarInfo(f"wayname-sysdump/{name}")
    member.size, member.mtime, member.mode = len(octets), int(time.time()), 0o600
    archive.addfile(member, io.BytesIO(octets))
