"""The fleet in the API: whether this controller leads its edge, and why nothing changes if so."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel, Field

from wayname.api.problems import ApiError, Problem
from wayname.api.roles import OPERATE, READ
from wayname.edge.boundary import VrrpRole
from wayname.fleet.etcd import EtcdError
from wayname.snapshot.running import Running

ALONE: dict[int | str, dict[str, Any]] = {404: {"model": Problem, "description": "the controller is in no fleet"}}
NOT_LEADING: dict[int | str, dict[str, Any]] = {
    **ALONE,
    409: {"model": Problem, "description": "another controller leads"},
    503: {"model": Problem, "description": "etcd does not answer"},
}


class FleetAnswer(BaseModel):
    """A controller in its fleet."""

    edge: str = Field(description="name of the edge in the fleet")
    controller: str = Field(description="name of this controller")
    leads: bool = Field(description="whether this controller leads the edge")
    election_id: str | None = Field(description="its P4Runtime election id, of 128 bits; null if another leads")
    vrrp: VrrpRole | None = Field(
        description="whether this edge is the router of its site or its backup; null where it has no other edge"
    )
    unwritten: int = Field(description="values for a successor that etcd does not have yet")
    why: str = Field(description="why nothing can be changed here now; empty if it can")


def serve_fleet(app: FastAPI, running: Running) -> None:
    """Serve it."""

    @app.get("/v1/fleet", openapi_extra=READ, responses=ALONE)
    async def fleet() -> FleetAnswer:
        """Whether this controller leads its edge, and what waits for etcd."""
        return _answer(running)

    @app.post("/v1/fleet/drain", openapi_extra=OPERATE, responses=NOT_LEADING)
    async def drain() -> FleetAnswer:
        """Have another controller lead, or another edge be the site's router; if none waits, this one goes on."""
        before = _answer(running)
        if before.vrrp is VrrpRole.ACTIVE:
            await running.let_go()
            return before
        if not before.leads:
            raise ApiError(409, "Another controller leads", before.why)
        assert running.fleet is not None
        try:
            await running.fleet.leadership.resign()
        except EtcdError as error:
            raise ApiError(503, "etcd does not answer", str(error)) from None
        return before


def _answer(running: Running) -> FleetAnswer:
    member, fleet = running.fleet, running.config.fleet
    if member is None or fleet is None:
        raise ApiError(404, "No fleet", "the controller is alone: its configuration has no [fleet]")
    term = member.leadership.term
    return FleetAnswer(
        edge=fleet.edge,
        controller=fleet.controller,
        leads=term is not None,
        election_id=str(term.election_id) if term else None,
        vrrp=running.virtual_router.role if running.virtual_router else None,
        unwritten=member.unwritten,
        why=running.why_no_changes(),
    )
