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

    vlan: int = Field(description="VLAN that the address is used in")
    address: str = Field(description="IPv6 address")
    port: int = Field(description="number of the port that it is bound to")
    mac: str = Field(description="MAC address of the station that it is bound to")
    origin: Literal["used", "leased"] = Field(description="leased: the edge gave it by DHCPv6")


class GuardedVlan(BaseModel):
    """What is checked of packets of a VLAN; nothing is where the port is trusted."""

    vlan: int = Field(description="VLAN number")
    guards: list[str] = Field(description="what is checked: source_guard, nd_inspection, ra_guard, dhcpv6_guard")


class PortUse(BaseModel):
    """What a port has of the tables, and the most that it may have."""

    port: int = Field(description="number of the port")
    name: str = Field(description="name of the port")
    vlans: list[GuardedVlan] = Field(description="VLANs that the port carries, with what is checked in each")
    stations: int = Field(description="MAC addresses learned behind the port")
    max_macs: int = Field(description="most that may be learned there (`max_macs`)")
    bindings: int = Field(description="addresses bound to the port")
    neighbours: int = Field(description="neighbour entries of addresses behind the port")
    max_addresses: int = Field(description="most bindings, and neighbours, that it may have (`max_addresses`)")


class Bindings(BaseModel):
    """All bindings, and all ports."""

    bindings: list[HostBinding] = Field(description="addresses with the port and station of each")
    ports: list[PortUse] = Field(description="what each port has of the tables")


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
