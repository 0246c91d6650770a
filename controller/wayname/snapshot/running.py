"""What the API asks of the controller that runs; everything it knows of it stands here."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Protocol

from finsy import P4Schema

from wayname.adapter.events import EventRing
from wayname.adapter.virtual_router import VirtualRouter
from wayname.composition.edge import Edge
from wayname.config.encapsulation.changes import Changes
from wayname.config.model import Config
from wayname.edge.boundary import Command
from wayname.fleet.member import FleetMember
from wayname.pipeline.entries import Readable


class Running(Protocol):
    """The controller as the API sees it; the edge's managers are only looked at."""

    config: Config
    schema: P4Schema
    edge: Edge
    events: EventRing
    changes: Changes
    # Its part in a fleet; None of one that is alone.
    fleet: FleetMember | None
    # Its part in a virtual router; None of one whose site has no other edge.
    virtual_router: VirtualRouter | None

    @property
    def now(self) -> float:
        """The time of the edge's clock, in seconds."""

    @property
    def sessions(self) -> int:
        """Times that the switch was there."""

    @property
    def writes(self) -> int:
        """Updates sent to it."""

    @property
    def failed_writes(self) -> int:
        """Updates that it refused."""

    @property
    def lost(self) -> Mapping[tuple[int, int], int]:
        """By class and port, packets for which there was no room in the controller."""

    @property
    def connected(self) -> bool:
        """Whether the switch is there and listens."""

    @property
    def reconciled(self) -> bool:
        """Whether all entries have been written since it is there."""

    def why_no_changes(self) -> str:
        """Say why nothing can be changed now: another controller leads, or nobody knows who does; or nothing."""

    async def read(self, entities: Sequence[Readable]) -> list[Readable]:
        """Read from the switch, all in one request."""

    async def command(self, command: Command) -> asyncio.Event:
        """Have the controller do something; the event is set when it is done."""

    async def let_go(self) -> None:
        """Have the other edge of the site be its router; if there is none, this one goes on."""


def reconnects(running: Running) -> int:
    """Times that the switch was there again."""
    return max(0, running.sessions - 1)
