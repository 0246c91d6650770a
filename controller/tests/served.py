"""A controller with its switch in process, as the API sees it."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import httpx
from finsy.p4entity import encode_entities
from finsy.proto import p4r
from rig import Rig
from starlette.types import ASGIApp, Receive, Scope, Send

from wayname.adapter.events import EventRing
from wayname.adapter.virtual_router import VirtualRouter
from wayname.api.access import PEER
from wayname.api.app import ApiServices, make_app
from wayname.api.audit import Audit
from wayname.api.callers import LocalUser, Peer
from wayname.api.captures import Captures
from wayname.composition.protocols import PROTOCOLS
from wayname.config.encapsulation.changes import Changes
from wayname.edge.boundary import Captured, Command, Event, LetGo, Severity
from wayname.fleet.member import FleetMember
from wayname.logs.event_log import EventLog
from wayname.pipeline.entries import Readable
from wayname.pipeline.read_back import decode_entities
from wayname.session.protocol import Protocol

NOON = 1_800_000_000.123456
"""The time of day at which everything is captured."""


class ListeningRig(Rig):
    """A rig that hands on what a controller tells others."""

    def __init__(
        self, config: str, listener: Callable[[Event | Captured], None], protocols: Sequence[Protocol] = PROTOCOLS
    ) -> None:
        self.listener = listener
        super().__init__(config, protocols=protocols)

    def _carry_out(self, output: object) -> None:
        if isinstance(output, Event | Captured):
            self.listener(output)
        else:
            super()._carry_out(output)


class Served:
    """What a running controller is asked for; the switch is never away unless the test says so."""

    def __init__(self, config: str, protocols: Sequence[Protocol] = PROTOCOLS) -> None:
        self.events = EventRing(100)
        self.log = EventLog()
        self.captures = Captures(lambda: NOON)
        self.beside = ApiServices(
            self.captures, self.log.by_kind, lambda: 60.0, self.reload, Audit(self.report, lambda: self.now)
        )
        self.rig = ListeningRig(config, self.listen, protocols)
        self.config, self.schema, self.edge = self.rig.config, self.rig.schema, self.rig.edge
        self.changes = Changes(self.config)
        self.connected = self.reconciled = True
        self.fleet: FleetMember | None = None
        self.virtual_router: VirtualRouter | None = None
        self.sessions = 1
        self.lost: Counter[tuple[int, int]] = Counter()

    @property
    def now(self) -> float:
        """The time of the rig's clock."""
        return self.rig.now

    @property
    def writes(self) -> int:
        """Updates written so far."""
        return sum(len(write.updates) for write in self.rig.writes)

    @property
    def failed_writes(self) -> int:
        """Updates that the switch refused."""
        return self.rig.kinds().count("write.failed") + sum(
            recorded.event.kind == "write.failed" for recorded in self.events.since(0)
        )

    def why_no_changes(self) -> str:
        """Nothing keeps changes from being made."""
        return ""

    def listen(self, output: Event | Captured) -> None:
        """Take what the controller tells."""
        if isinstance(output, Captured):
            self.captures.take(output)
        else:
            self.log.record(self.events.append(output))

    def report(self, kind: str, severity: Severity, subject: str, text: str) -> None:
        """Record an event of the controller itself."""
        self.listen(Event(self.now, kind, severity, subject, text))

    async def read(self, entities: Sequence[Readable]) -> list[Readable]:
        """Read from the switch."""
        request = p4r.ReadRequest(entities=encode_entities(entities, self.schema))
        reply = p4r.ReadResponse.FromString(self.rig.switch.read(request.SerializeToString(), int(self.rig.now * 1e9)))
        return decode_entities(reply.entities, self.schema)

    async def reload(self) -> list[str]:
        """There is no file to read again."""
        return []

    async def command(self, command: Command) -> asyncio.Event:
        """Carry out a command at once."""
        self.rig.receive(command)
        done = asyncio.Event()
        done.set()
        return done

    async def let_go(self) -> None:
        """Have no other edge be the router: there is none."""
        self.rig.receive(LetGo())


OWNER = Peer("a test", 0, LocalUser(os.geteuid(), frozenset()))


def asked_by(peer: Peer, app: ASGIApp) -> ASGIApp:
    """The app as it is asked by somebody."""

    async def asked(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, "state": {PEER: peer}}, receive, send)

    return asked


@asynccontextmanager
async def client_of(served: Served) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the controller's API."""
    app = make_app(served, served.beside)
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(asked_by(OWNER, app)), base_url="http://127.0.0.1:9580"
    ) as client:
        yield client


async def ask(client: httpx.AsyncClient, path: str, **parameters: Any) -> Any:
    """What the API answers."""
    response = await client.get(path, params=parameters)
    assert response.status_code == 200, response.text
    return response.json()
