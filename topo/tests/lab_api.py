"""The API of a controller of a lab on the virtual clock."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import httpx
from finsy.p4entity import encode_entities
from finsy.proto import p4r
from starlette.types import ASGIApp, Receive, Scope, Send

from wayname.adapter.events import EventRing
from wayname.adapter.virtual_router import VirtualRouter
from wayname.api.access import PEER
from wayname.api.app import ApiServices, make_app
from wayname.api.audit import Audit
from wayname.api.callers import LocalUser, Peer
from wayname.api.captures import Captures
from wayname.composition.edge import Edge
from wayname.config.encapsulation.changes import Changes
from wayname.edge.boundary import Command, LetGo
from wayname.fleet.member import FleetMember
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
        self.fleet: FleetMember | None = None
        self.virtual_router: VirtualRouter | None = None
        self._lab, self._router = lab, router

    @property
    def now(self) -> float:
        """The time of the lab's clock."""
        return self._lab.now

    def why_no_changes(self) -> str:
        """Nothing stands against changes."""
        return ""

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

    async def let_go(self) -> None:
        """Have no other edge be the router: there is none."""
        await self.command(LetGo())


async def no_file() -> list[str]:
    """A lab's configuration is in no file that could be read again."""
    return []


def of_owner(app: ASGIApp) -> ASGIApp:
    """The app as it is asked by who owns the controller."""

    async def asked(scope: Scope, receive: Receive, send: Send) -> None:
        peer = Peer("a test", 0, LocalUser(os.geteuid(), frozenset()))
        await app({**scope, "state": {PEER: peer}}, receive, send)

    return asked


@asynccontextmanager
async def client_of(lab: VirtualLab, router: str) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a router's controller."""
    audit = Audit(lambda *_: None, lambda: 0.0)
    app = make_app(OfLab(lab, router), ApiServices(Captures(lambda: 0.0), {}, lambda: 0.0, no_file, audit))
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(of_owner(app)), base_url="http://127.0.0.1:9580"
    ) as client:
        yield client


async def answer(client: httpx.AsyncClient, path: str) -> Any:
    """What the API answers."""
    response = await client.get(path)
    assert response.status_code == 200, response.text
    return response.json()
