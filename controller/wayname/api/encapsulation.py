"""What packets carry, and how that is changed while the controller runs."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import FastAPI, Query
from pydantic import BaseModel, Field, JsonValue

from wayname.api.problems import ApiError, Problem
from wayname.api.roles import OPERATE, READ
from wayname.config.encapsulation.changes import Changes
from wayname.config.encapsulation.load import MOST, SECRETS, Kind
from wayname.config.tables import ConfigError
from wayname.edge.boundary import SetEncapsulation
from wayname.edge.encapsulation.tables import TABLES
from wayname.snapshot.running import Running

REFUSED: dict[int | str, dict[str, Any]] = {
    409: {"model": Problem, "description": "it cannot be, or the switch refuses it; nothing was changed"}
}


class EncapsulationItem(BaseModel):
    """A thing that packets carry, or that says what becomes of them."""

    kind: Kind = Field(description="kind of table of the configuration that it stands in")
    name: str = Field(description="its name, id, segment or prefix")
    origin: str = Field(description="file, or live: changed since")
    values: dict[str, JsonValue] = Field(description="its keys as in the configuration; secrets are left out")


class Change(BaseModel):
    """All of it at once, or nothing: first what goes, then what comes or is replaced."""

    remove: dict[Kind, list[str]] = Field(
        default_factory=dict, description="names by kind", examples=[{"encapsulation": ["2001:db8:2::/48"]}]
    )
    put: dict[Kind, list[dict[str, JsonValue]]] = Field(
        default_factory=dict,
        description="keys as in the configuration",
        examples=[{"policy": [{"name": "gold", "segments": ["fd00:b::1", "fd00:c::1"]}]}],
    )


class Changed(BaseModel):
    """What came of a change."""

    saved: bool = Field(description="it survives a restart of the controller, since controller.changes names a file")
    written: bool = Field(description="it is on the switch; else it will be when the switch is there")


def serve_encapsulation(app: FastAPI, running: Running) -> None:
    """Serve what packets carry."""
    one_at_a_time = asyncio.Lock()

    @app.get("/v1/encapsulation", openapi_extra=READ)
    async def encapsulation(
        kind: Annotated[Kind | None, Query(description="tables of the configuration of this kind only")] = None,
    ) -> list[EncapsulationItem]:
        """All that is wanted now, whether the file says it or somebody did since."""
        return [
            EncapsulationItem(kind=each, name=name, origin=origin, values=shown(values))
            for each in MOST
            if kind in (None, each)
            for name, values, origin in running.changes.all(each)
        ]

    @app.post("/v1/encapsulation", openapi_extra=OPERATE, responses=REFUSED)
    async def change_encapsulation(change: Change) -> Changed:
        """Add, replace and remove; every packet leaves as it did before or as it is to now."""
        async with one_at_a_time:
            try:
                after = changed(running.changes, change)
                await carry_out(running, after)
            except ConfigError as error:
                raise ApiError(409, "Refused", str(error)) from None
        return Changed(saved=running.config.controller.changes is not None, written=running.connected)


def changed(changes: Changes, change: Change) -> Changes:
    """Return the changes with one more."""
    for kind, names in change.remove.items():
        for name in names:
            changes = changes.remove(kind, name)
    for kind, items in change.put.items():
        for values in items:
            changes = changes.put(kind, values)
    return changes


async def carry_out(running: Running, after: Changes) -> None:
    """Have the switch do as it is wanted now; what the switch refuses is undone."""
    before, last = running.changes, running.events.last
    # Thousands of prefixes take some tenths of a second, in which next hops want to be probed.
    current = await asyncio.to_thread(after.read)
    after.save()
    await (await running.command(SetEncapsulation(current))).wait()
    failed = [
        recorded.event
        for recorded in running.events.since(last)
        if recorded.event.kind == "write.failed" and recorded.event.subject in TABLES
    ]
    if failed:
        before.save()
        await (await running.command(SetEncapsulation(before.read()))).wait()
        raise ApiError(409, "The switch refuses it", f"{failed[0].text}; nothing was changed")
    running.changes = after


def shown(values: dict[str, Any]) -> dict[str, JsonValue]:
    """Leave secrets out."""
    return {key: "..." if key in SECRETS else value for key, value in values.items()}
