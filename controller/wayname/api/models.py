"""The API's answers, and what it is asked for beside them."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field, JsonValue

from wayname.snapshot.switch_snapshot import Value


class SwitchStatus(BaseModel):
    """The switch and the way to it."""

    address: str = Field(description="gRPC address of the switch")
    device_id: int = Field(description="P4Runtime device id of the switch")
    target: str = Field(description="kind of target: embedded or bmv2")
    state: str = Field(description="ready; connecting; or waiting: in a fleet, this controller does not lead the edge")
    reconnects: int = Field(description="times that the way to the switch was lost and found again")
    writes: int = Field(description="updates written")
    failed_writes: int = Field(description="updates that the switch refused")


class Status(BaseModel):
    """The controller and its switch."""

    version: str = Field(description="version of the controller")
    uptime: float = Field(description="seconds that the controller runs")
    pipeline: str = Field(description="the program's name and version")
    switch: SwitchStatus = Field(description="the switch, and the way to it")
    waits_for: list[str] = Field(description="what is missing until the edge is up, in words; nothing: it is up")
    ports: int = Field(description="ports in the configuration")
    stations: int = Field(description="entries of the FDB: MACs that were learned")
    neighbours: int = Field(description="entries of the neighbour cache")
    routes: int = Field(description="routes of the configuration and of Linux")
    events: int = Field(description="number of the last event")
    captures: int = Field(description="captures that are open")


class Port(BaseModel):
    """A port and what passed it."""

    number: int = Field(description="port number on the switch")
    name: str = Field(description="name of the port in the configuration")
    vlan: int | None = Field(description="VLAN of untagged frames; none: they are dropped")
    tagged: list[int] = Field(description="VLANs whose frames are tagged here")
    mtu: int = Field(description="MTU in octets, without the Ethernet header")
    up: bool | None = Field(description="whether its link is up; none: the switch does not say")
    received_packets: int = Field(description="packets that came in")
    received_bytes: int = Field(description="octets that came in")
    sent_packets: int = Field(description="packets that left")
    sent_bytes: int = Field(description="octets that left")


class Address(BaseModel):
    """An address of a host, and how sure that is."""

    address: str = Field(description="IPv6 address")
    state: str = Field(description="reachable, stale or probe (RFC 4861)")


class Host(BaseModel):
    """A station with the addresses that it answers for."""

    vlan: int = Field(description="VLAN that the station is on")
    mac: str = Field(description="MAC address of the station")
    port: int | None = Field(description="none: it has addresses, but was not heard lately")
    port_name: str | None = Field(description="name of the port that it was heard behind")
    addresses: list[Address] = Field(description="IPv6 addresses that it answers for")


class NextHop(BaseModel):
    """A next hop of a route."""

    address: str = Field(description="IPv6 address of the router")
    interface: str = Field(description="interface that it is behind")
    weight: int = Field(description="share of the flows, relative to the other next hops (ECMP)")
    health: str = Field(description="unknown (used until it fails), up or down")


class Route(BaseModel):
    """A route as it stands now."""

    prefix: str = Field(description="destination prefix")
    kind: str = Field(
        description="connected, static, prohibited or discard; of a route of Linux who put it there: bgp, ra, static"
    )
    origin: Literal["configuration", "linux"] = Field(
        default="configuration", description="who said the route: the configuration, or Linux by netlink"
    )
    interface: str | None = Field(description="of a connected route")
    address: str | None = Field(description="the router's own, of a connected route")
    via: list[NextHop] = Field(description="next hops; none: the route is connected, or refuses packets")
    used: bool = Field(description="false while no next hop answers or the configuration has the prefix")


class TableSummary(BaseModel):
    """A table of the switch and how much of it is used."""

    name: str = Field(description="name of the table in P4Info")
    about: str = Field(description="what the table is for")
    size: int = Field(description="entries that it has room for")
    entries: int = Field(description="entries that it holds")
    packets: int = Field(description="packets that its entries counted")
    bytes: int = Field(description="octets that its entries counted")


class TableEntry(BaseModel):
    """An entry in words: numbers as numbers, addresses as they are written."""

    match: dict[str, Value] = Field(description="value of each match field; a prefix with its length")
    action: str = Field(description="action of the entry; `group` is an action selector group")
    parameters: dict[str, Value] = Field(description="parameters of the action; secrets are `...`")
    priority: int = Field(description="priority among entries that match; 0 where keys are exact or longest prefixes")
    packets: int = Field(description="packets that matched")
    bytes: int = Field(description="octets of the packets that matched")


class Table(BaseModel):
    """A table with its entries."""

    name: str = Field(description="name of the table in P4Info")
    about: str = Field(description="what the table is for")
    size: int = Field(description="entries that it has room for")
    entries: list[TableEntry] = Field(description="its entries")


class Drop(BaseModel):
    """A reason for drops that counted some."""

    reason: int = Field(description="number of the drop reason")
    name: str = Field(description="the drop reason in words")
    where: Literal["ingress", "egress"] = Field(description="where in the pipeline it was dropped")
    packets: int = Field(description="packets dropped")
    bytes: int = Field(description="octets of the packets dropped")


class PortLoss(BaseModel):
    """Frames that a port of the switch lost before or behind its tables."""

    port: int = Field(description="port number on the switch")
    port_name: str = Field(description="name of the port; empty: it is not in the configuration")
    reason: str = Field(description="port_refused, too_long, unknown_offload or overrun")
    name: str = Field(description="the reason in words")
    packets: int = Field(description="frames lost since the switch started")


class Event(BaseModel):
    """Something that happened."""

    sequence: int = Field(description="number of the event, from 1 since the controller started")
    time: str = Field(description="UTC, ISO 8601")
    kind: str = Field(description="what kind of event: its subject's kind and what happened, as in switch.up")
    severity: str = Field(description="info, warning or error")
    subject: str = Field(description="what it happened to, as a session, a provider or an address")
    text: str = Field(description="what happened, in words")
    details: dict[str, JsonValue] = Field(description="values that belong to this kind of event")


class Capture(BaseModel):
    """Which packets somebody wants to see."""

    port: int | str = Field(description="the port whose packets are copied, by name or number", examples=["site"])
    direction: Literal["in", "out", "both"] = Field(
        "both", description="packets that come in by the port, that leave by it, or both"
    )
    count: int | None = Field(None, ge=1, description="end after so many packets")
    seconds: float | None = Field(None, gt=0, description="end after so much time")
