"""What Linux counts of all connections of a namespace."""

from __future__ import annotations

from dataclasses import dataclass

from bench.in_namespaces import inside
from wayname_lab.running import RunningLab


@dataclass(frozen=True, slots=True)
class Counter:
    """A counter, where it stands under /proc/net."""

    file: str
    group: str
    name: str


async def counter(lab: RunningLab, host: str, wanted: Counter) -> int:
    """Return what a host has counted so far."""
    lines = (await inside(lab, host, "cat", f"/proc/net/{wanted.file}")).splitlines()
    names, values = (line.split()[1:] for line in lines if line.startswith(f"{wanted.group}:"))
    return int(values[names.index(wanted.name)])
