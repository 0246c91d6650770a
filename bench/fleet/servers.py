"""What a fleet of a bench runs beside: a folder with a sealing key, three members of etcd, simulated switches."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from wayname.fleet.sealing import new_key
from wayname_lab.etcd import EtcdCluster
from wayname_lab.programs import python


@dataclass(frozen=True, slots=True)
class Servers:
    """What runs, and where."""

    folder: Path
    etcd: EtcdCluster
    switches: str  # where their P4Runtime is


@contextmanager
def folder_with_key() -> Iterator[Path]:
    """Make a folder with `fleet.key` in it."""
    with tempfile.TemporaryDirectory(prefix="wayname-") as name:
        key = Path(name, "fleet.key")
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
