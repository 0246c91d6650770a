"""The API's answers, and what it is asked for beside them."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field, JsonValue

from wayname.snapshot.switch_snapshot import Value


class SwitchStatus(BaseModel):
    """The switch and the way to it."""

    address: str
    device_id: int
    target: str
    state: str = Field(description="connecting or ready")
    reconnects: int = Field(description="times that the way to the switch was lost and found again")
    writes: int = Field(description="updates written")
    failed_writes: int = Field(description="updates that the switch refused")


class Status(BaseModel):
    """The controller and its switch."""

    version: str
    uptime: float = Field(description="seconds that the controller runs")
    pipeline: str = Field(description="the program's name and version")
    switch: SwitchStatus
    waits_for: list[str] = Field(description="what is missing until the edge is up, in words; nothing: it is up")
    ports: int
    stations: int
    neighbours: int
    routes: int
    events: int = Field(description="number of the last event")
    captures: int = Field(description="captures that are open")


class Port(BaseModel):
    """A port and what passed it."""

    number: int
    name: str
    vlan: int | None
    tagged: list[int]
    mtu: int
    received_packets: int
    received_bytes: int
    sent_packets: int
    sent_bytes: int


class Address(BaseModel):
    """An address of a host, and how sure that is."""

    address: str
    state: str = Field(description="reachable, stale or probe (RFC 4861)")


class Host(BaseModel):
    """A station with the addresses that it answers for."""

    vlan: int
    mac: str
    port: int | None = Field(description="none: it has addresses, but was not heard lately")
    port_name: str | None
    addresses: list[Address]


class NextHop(BaseModel):
    """A next hop of a route."""

    address: str
    interface: str
    weight: int
    health: str = Field(description="unknown (used until it fails), up or down")


class Route(BaseModel):
    """A route as it stands now."""

    prefix: str
    kind: str = Field(
        description="connected, static, prohibited or discard; of a route of Linux who put it there: bgp, ra, static"
    )
    origin: Literal["configuration", "linux"] = "configuration"
    interface: str | None = Field(description="of a connected route")
    address: str | None = Field(description="the router's own, of a connected route")
    via: list[NextHop]
    used: bool = Field(description="false while no next hop answers or the configuration has the prefix")


class TableSummary(BaseModel):
    """A table of the switch and how much of it is used."""

    name: str
    about: str
    size: int
    entries: int
    packets: int
    bytes: int


class TableEntry(BaseModel):
    """An entry in words: numbers as numbers, addresses as they are written."""

    match: dict[str, Value]
    action: str
    parameters: dict[str, Value]
    priority: int
    packets: int
    bytes: int


class Table(BaseModel):
    """A table with its entries."""

    name: str
    about: str
    size: int
    entries: list[TableEntry]


class Drop(BaseModel):
    """A reason for drops that counted some."""

    reason: int
    name: str
    where: Literal["ingress", "egress"]
    packets: int
    bytes: int


class PortLoss(BaseModel):
    """Frames that a port of the switch lost before or behind its tables."""

    port: int
    port_name: str
    reason: str = Field(description="port_refused, too_long, unknown_offload or overrun")
    name: str
    packets: int


class Event(BaseModel):
    """Something that happened."""

    sequence: int
    time: str = Field(description="UTC, ISO 8601")
    kind: str
    severity: str
    subject: str
    text: str
    details: dict[str, JsonValue]


class Capture(BaseModel):
    """Which packets somebody wants to see."""

    port: int
    direction: Literal["in", "out", "both"] = "both"
    count: int | None = Field(None, ge=1, description="end after so many packets")
    seconds: float | None = Field(None, gt=0, description="end after so much time")
