"""What a fleet of a bench runs beside: a folder with a sealing key, three members of etcd, simulated switches."""

from __future__ import annotations

import asyncio
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from wayname.fleet.etcd import Etcd, EtcdError
from wayname.fleet.keys import FleetKeys
from wayname.fleet.publication import Publication
from wayname.fleet.sealing import Seal, new_key
from wayname_lab.etcd import EtcdCluster
from wayname_lab.fleet.controllers import TABLES
from wayname_lab.programs import python

PREFIX, KEY = "wayname", "fleet.key"


@dataclass(frozen=True, slots=True)
class Servers:
    """What runs, and where."""

    folder: Path
    etcd: EtcdCluster
    switches: str  # where their P4Runtime is


def tables(switches: str, edges: int) -> dict[str, str]:
    """Return what each edge of so many goes by, by its name."""
    return {f"edge{number}": TABLES.format(switch=switches, device=number) for number in range(1, edges + 1)}


async def hand_out(running: Servers, edges: int) -> None:
    """Have etcd know what edges go by."""
    etcd = Etcd(running.etcd.endpoints)
    publication = Publication(etcd, FleetKeys(PREFIX), Seal.read(running.folder / KEY))
    while True:
        try:
            await publication.hand_out(tables(running.switches, edges), 1)
            break
        except EtcdError:
            # It has just begun, on a machine that may be busy.
            await asyncio.sleep(0.5)
    await etcd.close()


@contextmanager
def folder_with_key() -> Iterator[Path]:
    """Make a folder with a sealing key in it."""
    with tempfile.TemporaryDirectory(prefix="wayname-") as name:
        key = Path(name, KEY)
        key.touch(0o600)
        key.write_text(new_key() + "\n")
        yield Path(name)


@contextmanager
def servers() -> Iterator[Servers]:
    """Start etcd with nothing in it, and switches that keep entries and forward nothing."""
    with folder_with_key() as folder, EtcdCluster(folder) as etcd:
        address = f"unix:{folder}/switches"
        words = [python(), "-m", "bench.fleet.switches", address]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            try:
                process.stdout.readline()
                yield Servers(folder, etcd, address)
            finally:
                process.terminate()
