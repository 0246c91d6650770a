"""Pinholes in simple security, in the API."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel, Field

from wayname.api.problems import ApiError, Problem
from wayname.api.roles import OPERATE, READ
from wayname.api.sessions import ReadTables
from wayname.config.simple_security import MOST_PINHOLES, WORDS, Filtering, Pinhole, read_pinhole
from wayname.config.tables import ConfigError, Site
from wayname.edge.boundary import SetPinhole
from wayname.pipeline import simple_security as tables
from wayname.snapshot.running import Running
from wayname.snapshot.switch_snapshot import Entry, SwitchSnapshot, in_words

REFUSED: dict[int | str, dict[str, Any]] = {
    404: {"model": Problem, "description": "no such pinhole was opened here"},
    409: {"model": Problem, "description": "it cannot be; nothing was changed"},
}


class PinholeRequest(BaseModel):
    """Flows that may begin outside, with the keys of the configuration; what is null does not matter."""

    inside: str = Field(description="an address inside, or a prefix", examples=["2001:db8:1::80"])
    protocol: str | None = Field(default=None, description="tcp, udp, icmpv6 or sctp", examples=["tcp"])
    ports: str | None = Field(
        default=None, description="of the host inside: one, or two as in 5000-5999", examples=["443"]
    )


class PinholeAnswer(BaseModel):
    """A pinhole."""

    inside: str = Field(description="address or prefix inside")
    protocol: str | None = Field(description="tcp, udp, icmpv6 or sctp; null is any")
    ports: str | None = Field(description="ports of the host inside; null is any")
    origin: str = Field(description="file, or live: opened since")
    packets: int | None = Field(default=None, description="that it let in or out, if the switch is there")


class PinholesAnswer(BaseModel):
    """Simple security."""

    enabled: bool = Field(description="whether only what answers comes in")
    filtering: Filtering = Field(
        description="what may come in to a host that sent something: by which part of the sender (RFC 6092)"
    )
    pinholes: list[PinholeAnswer] = Field(description="flows that may begin outside")


def serve_pinholes(app: FastAPI, running: Running, read: ReadTables) -> None:
    """Serve pinholes."""

    async def answer() -> PinholesAnswer:
        switch_snapshot = await read(running, ["pinholes"]) if running.connected else None
        return _answer(running, switch_snapshot)

    @app.get("/v1/pinholes", openapi_extra=READ)
    async def pinholes() -> PinholesAnswer:
        """Whether inbound packets are filtered, and which flows may begin outside."""
        return await answer()

    @app.post("/v1/pinholes", openapi_extra=OPERATE, responses=REFUSED)
    async def open_pinhole(wish: PinholeRequest) -> PinholesAnswer:
        """Open a pinhole; it stays when the controller is started again."""
        pinhole = _wished(running, wish)
        known = running.edge.simple_security
        if not known.enabled:
            raise ApiError(409, "Refused", "nothing is filtered; switch on [simple_security] in the configuration")
        if len(known.pinholes) >= MOST_PINHOLES:
            raise ApiError(409, "Refused", f"there are {MOST_PINHOLES} pinholes; remove one, or open a prefix")
        await (await running.command(SetPinhole(pinhole, opened=True))).wait()
        return await answer()

    @app.post("/v1/pinholes/remove", openapi_extra=OPERATE, responses=REFUSED)
    async def close_pinhole(wish: PinholeRequest) -> PinholesAnswer:
        """Close a pinhole that was opened here; what the configuration says stays."""
        pinhole = _wished(running, wish)
        known = running.edge.simple_security
        if not known.is_live(pinhole):
            if pinhole in known.pinholes:
                raise ApiError(409, "Refused", f"{pinhole} stands in the configuration; remove it there")
            raise ApiError(404, "No such pinhole", f"{pinhole}; `wayname pinhole list` shows them all")
        await (await running.command(SetPinhole(pinhole, opened=False))).wait()
        return await answer()


def _wished(running: Running, wish: PinholeRequest) -> Pinhole:
    values = {key: value for key, value in wish.model_dump().items() if value is not None}
    try:
        return read_pinhole(values, Site(running.config, Path()))
    except ConfigError as error:
        raise ApiError(409, "Refused", str(error)) from None


def _answer(running: Running, switch_snapshot: SwitchSnapshot | None) -> PinholesAnswer:
    known = running.edge.simple_security
    counted = {}
    if switch_snapshot is not None:
        counted = {_key(each): each.count.packets for each in switch_snapshot.tables["pinholes"]}
    pinholes = [
        PinholeAnswer(
            inside=str(each.inside),
            protocol=None if each.protocol is None else WORDS[each.protocol],
            ports=None if each.ports is None else f"{each.ports[0]}-{each.ports[1]}",
            origin="live" if known.is_live(each) else "file",
            packets=counted.get(_key(in_words(tables.pinhole(each), running.schema))),
        )
        for each in known.pinholes
    ]
    filtering = running.config.simple_security.filtering
    return PinholesAnswer(enabled=known.enabled, filtering=filtering, pinholes=pinholes)


def _key(entry: Entry) -> frozenset[tuple[str, str | int]]:
    return frozenset(entry.match.items())
