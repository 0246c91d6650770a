"""The API of a controller of a lab on the virtual clock."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import httpx
from finsy.p4entity import encode_entities
from finsy.proto import p4r

from wayname.adapter.events import EventRing
from wayname.api.app import ApiServices, make_app
from wayname.api.captures import Captures
from wayname.composition.edge import Edge
from wayname.config.api_address import TcpAddress
from wayname.config.encapsulation.changes import Changes
from wayname.edge.boundary import Command
from wayname.pipeline.entries import Readable
from wayname.pipeline.read_back import decode_entities
from wayname_lab.virtual.lab import VirtualLab


class OfLab:
    """A lab's controller as the API sees it."""

    def __init__(self, lab: VirtualLab, router: str) -> None:
        edge = lab.controllers[router].edge
        assert edge is not None
        self.edge: Edge = edge
        self.config, self.schema = edge.config, lab.switches[router].schema
        self.changes = Changes(self.config)
        self.events = EventRing(10)
        self.reconciled = True
        self.connected, self.sessions, self.writes, self.failed_writes = True, 1, 0, 0
        self.lost: dict[tuple[int, int], int] = {}
        self._lab, self._router = lab, router

    @property
    def now(self) -> float:
        """The time of the lab's clock."""
        return self._lab.now

    async def read(self, entities: Sequence[Readable]) -> list[Readable]:
        """Read from the switch."""
        request = p4r.ReadRequest(entities=encode_entities(entities, self.schema)).SerializeToString()
        reply = p4r.ReadResponse.FromString(self._lab.switches[self._router].read(request))
        return decode_entities(reply.entities, self.schema)

    async def command(self, command: Command) -> asyncio.Event:
        """Carry out a command, and what comes of it."""
        self._lab.controllers[self._router].command(command)
        self._lab.run_for(0.5)
        done = asyncio.Event()
        done.set()
        return done


async def no_file() -> list[str]:
    """A lab's configuration is in no file that could be read again."""
    return []


@asynccontextmanager
async def client_of(lab: VirtualLab, router: str) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a router's controller."""
    app = make_app(
        OfLab(lab, router), ApiServices(Captures(lambda: 0.0), {}, lambda: 0.0, no_file), TcpAddress("127.0.0.1", 9580)
    )
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1:9580") as client:
        yield client


async def answer(client: httpx.AsyncClient, path: str) -> Any:
    """What the API answers."""
    response = await client.get(path)
    assert response.status_code == 200, response.text
    return response.json()
