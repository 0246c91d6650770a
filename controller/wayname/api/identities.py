"""The identities of hosts, as the API tells them."""

from __future__ import annotations

from ipaddress import IPv6Address
from typing import Literal

from fastapi import FastAPI
from pydantic import BaseModel, Field

from wayname.api.roles import READ
from wayname.config.identities import Form, HostLink
from wayname.edge.identities.identities import HostIdentities
from wayname.edge.identities.identity import Client, Identity
from wayname.edge.identities.link_prefixes import prefix_of
from wayname.snapshot.running import Running


class HostPrefix(BaseModel):
    """A prefix in which hosts of a link can be reached."""

    prefix: str = Field(description="IPv6 prefix, as /64")
    state: Literal["configured", "preferred", "deprecated"] = Field(
        description="configured by the file; else of a provider, and preferred or deprecated for new connections"
    )
    seconds: float | None = Field(description="that it is valid still; null is for ever")


class IdentityLink(BaseModel):
    """A link whose hosts get identities."""

    interface: str = Field(description="name of the interface in the configuration")
    form: Form = Field(
        description="what proves locators: hba, that they are a set, and for later ones a signature; cga, a signature"
    )
    hosts: int = Field(description="that have an identity, or had one and may come back")
    prepared: int = Field(description="identities for hosts to come")
    prefixes: list[HostPrefix] = Field(description="prefixes that its hosts can be reached in")


class HostLocator(BaseModel):
    """Where a host can be reached, and what proves it."""

    address: str = Field(description="IPv6 address that reaches the host")
    proof: Literal["set", "signature"] = Field(
        description="set: the identity was made for all its prefixes (HBA); signature: its key signs (CGA)"
    )


class HostIdentity(BaseModel):
    """The identity of a host."""

    interface: str = Field(description="name of the interface that the host is at")
    state: Literal["leased", "left", "mapped"] = Field(
        description="leased by DHCPv6; left: the lease ended, the host may come back; mapped to an address of its own"
    )
    host: str = Field(description="its own address where it is mapped, else its DUID and IAID")
    mac: str | None = Field(description="of the station that uses the address, if one was heard")
    addresses: list[str] = Field(description="addresses that the host has by its identity")
    locators: list[HostLocator] = Field(description="where it can be reached, and what proves each")
    sec: int = Field(description="Sec of the CGA (RFC 3972): what the search for its modifier cost, 0 to 7")
    seconds: float | None = Field(description="until the lease ends; null where it has no end")


class IdentityBook(BaseModel):
    """All links and hosts; both are empty where the configuration has no identities."""

    links: list[IdentityLink] = Field(description="links whose hosts get identities")
    hosts: list[HostIdentity] = Field(description="hosts with an identity")


def serve_identities(app: FastAPI, running: Running) -> None:
    """Serve who has which identity."""

    @app.get("/v1/identities", openapi_extra=READ)
    async def identities() -> IdentityBook:
        """Hosts with their identities, and what is prepared for others."""
        known = running.edge.identities
        if known is None:
            return IdentityBook(links=[], hosts=[])
        macs = {each.at.address: str(each.mac) for each in running.edge.neighbours if each.mac}
        by_link = sorted(known.book, key=lambda each: (each.link, each.number))
        return IdentityBook(
            links=[_link(known, link, running.now) for link in known.config.links],
            hosts=[_host(known, identity, macs, running.now) for identity in by_link],
        )


def _link(known: HostIdentities, link: HostLink, now: float) -> IdentityLink:
    prefixes = [HostPrefix(prefix=str(prefix), state="configured", seconds=None) for prefix in link.prefixes]
    for learned in known.prefixes.learned(link):
        prefixes.append(
            HostPrefix(
                prefix=str(learned.network),
                state="preferred" if learned.preferred else "deprecated",
                seconds=None if learned.is_for_ever else learned.valid - now,
            )
        )
    return IdentityLink(
        interface=link.name,
        form=known.config.form,
        hosts=sum(identity.link == link.name for identity in known.book),
        prepared=known.book.prepared(link),
        prefixes=prefixes,
    )


def _host(known: HostIdentities, identity: Identity, macs: dict[IPv6Address, str], now: float) -> HostIdentity:
    holder = identity.holder
    ends = known.lease_end(identity)
    uses = [*identity.addresses, *([holder] if isinstance(holder, IPv6Address) else [])]
    members = identity.parameters.multi_prefix
    state: Literal["leased", "left", "mapped"] = "leased" if identity.active else "left"
    return HostIdentity(
        interface=identity.link,
        state=state if isinstance(holder, Client) else "mapped",
        host=str(holder),
        mac=next((macs[address] for address in uses if address in macs), None),
        addresses=[str(address) for address in identity.addresses],
        locators=[
            HostLocator(
                address=str(locator),
                proof="set" if members and prefix_of(locator) in members.prefixes else "signature",
            )
            for locator in identity.locators
        ],
        sec=identity.sec,
        seconds=None if ends is None else ends - now,
    )
