"""Bindings of addresses, and what each port has of the tables, as the API tells them."""

from __future__ import annotations

from typing import Literal

from fastapi import FastAPI
from pydantic import BaseModel, Field

from wayname.api.roles import READ
from wayname.config.model import Port
from wayname.p4_constants import Guard
from wayname.snapshot.running import Running

GUARDS = {
    Guard.SOURCES: "source_guard",
    Guard.NEIGHBOURS: "nd_inspection",
    Guard.ROUTERS: "ra_guard",
    Guard.DHCPV6: "dhcpv6_guard",
}


class HostBinding(BaseModel):
    """An address, and whose it is."""

    vlan: int
    address: str
    port: int
    mac: str
    origin: Literal["used", "leased"] = Field(description="leased: the edge gave it by DHCPv6")


class GuardedVlan(BaseModel):
    """What is checked of packets of a VLAN; nothing is where the port is trusted."""

    vlan: int
    guards: list[str]


class PortUse(BaseModel):
    """What a port has of the tables, and the most that it may have."""

    port: int
    name: str
    vlans: list[GuardedVlan]
    stations: int
    max_macs: int
    bindings: int
    neighbours: int
    max_addresses: int


class Bindings(BaseModel):
    """All bindings, and all ports."""

    bindings: list[HostBinding]
    ports: list[PortUse]


def serve_bindings(app: FastAPI, running: Running) -> None:
    """Serve whose addresses are."""

    @app.get("/v1/bindings", openapi_extra=READ)
    async def bindings() -> Bindings:
        """Addresses with the port and station that each is bound to, and how much each port has."""
        by_address = sorted(running.edge.bindings, key=lambda each: (each.anchor.port, each.at))
        return Bindings(
            bindings=[
                HostBinding(
                    vlan=each.at.vlan,
                    address=str(each.at.address),
                    port=each.anchor.port,
                    mac=str(each.anchor.mac),
                    origin="leased" if each.leased else "used",
                )
                for each in by_address
            ],
            ports=[_use(running, port) for port in running.config.ports],
        )


def _use(running: Running, port: Port) -> PortUse:
    edge = running.edge
    guards = {vlan: edge.host_ports.guards(port.number, vlan) for vlan in port.vlans}
    return PortUse(
        port=port.number,
        name=port.name,
        vlans=[
            GuardedVlan(vlan=vlan, guards=[name for guard, name in GUARDS.items() if guard in checked])
            for vlan, checked in guards.items()
        ],
        stations=edge.fdb.count(port.number),
        max_macs=edge.host_ports.max_macs(port.number),
        bindings=edge.bindings.count(port.number),
        neighbours=edge.neighbours.count(port.number),
        max_addresses=edge.host_ports.max_addresses(port.number),
    )
