"""What an attack costs the edge: processor, memory, entries and packets to the controller, read from beside."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from finsy import P4CounterEntry, P4Schema, P4TableEntry
from finsy.p4entity import encode_entities
from finsy.proto import p4r

from bench.attacks.live import Live
from bench.attacks.site import A
from wayname.adapter.client import client
from wayname.p4_constants import Punt

TICK = os.sysconf("SC_CLK_TCK")
KIB = 1024
# Tables whose entries others may cause.
TABLES = ("learned_macs", "fdb", "neighbours", "identities", "paths", "context_tags", "ilnp_nonces", "spis", "nexthops")


@dataclass(frozen=True, slots=True)
class Reading:
    """What the processes of site a had used up at a moment."""

    controller_seconds: float
    switch_seconds: float
    controller_memory: int
    switch_memory: int


def read_processes(live: Live) -> Reading:
    """Read what the kernel tells of them."""
    controller, switch = live.process("controller"), live.process("switch")
    return Reading(_seconds(controller), _seconds(switch), _memory(controller), _memory(switch))


def _seconds(process: int) -> float:
    """Return the processor time that a process has used; 0 if it is gone."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICK


def _memory(process: int) -> int:
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except FileNotFoundError:
        return 0
    return next((int(line.split()[1]) * KIB for line in lines if line.startswith("VmRSS")), 0)


class SwitchReader:
    """Reads counters and entries of the attacked switch as a second client: the controller has no work with it."""

    def __init__(self, live: Live, schema: P4Schema) -> None:
        self.schema = schema
        self._client = client(live.switch_address, None)

    async def open(self) -> None:
        """Connect."""
        await self._client.open(schema=self.schema)

    async def close(self) -> None:
        """Let go of the connection."""
        await self._client.close()

    async def punts(self) -> dict[int, int]:
        """Return how many packets went to the controller, by reason."""
        found = await self._read([P4CounterEntry("punts", index=reason) for reason in Punt])
        return {each.counter_entry.index.index: each.counter_entry.data.packet_count for each in found}

    async def entries(self, tables: Sequence[str] = TABLES) -> dict[str, int]:
        """Return how many entries tables have."""
        return {table: len(await self._read([P4TableEntry(table)])) for table in tables}

    async def _read(self, wanted: Sequence[P4CounterEntry | P4TableEntry]) -> list[p4r.Entity]:
        request = p4r.ReadRequest(device_id=A.number, entities=encode_entities(wanted, self.schema))
        return [entity async for reply in self._client.request_iter(request) for entity in reply.entities]
