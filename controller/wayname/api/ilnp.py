"""Sessions between identifiers in the API: what stands, who is let in, what the DNS tells, which provider to leave.

Nonces are not told: who knows them can speak in the name of a host.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import FastAPI, Path
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from wayname.api.problems import ApiError, Problem
from wayname.api.roles import OPERATE, READ
from wayname.api.streamed_array import streamed_array
from wayname.edge.boundary import DrainProvider
from wayname.ilnp.edge.directory import in_words
from wayname.ilnp.edge.manager import IlnpSessions
from wayname.ilnp.edge.session import IlnpSession
from wayname.ilnp.lookup import Found
from wayname.ilnp.vectors import Vector, half_text
from wayname.snapshot.running import Running


class PeerLocator(BaseModel):
    """A locator of a peer."""

    locator: str = Field(description="64-bit locator, as 2001:db8:1:2::/64 is written")
    preference: int = Field(description="lower goes first")
    validity: str = Field(description="valid, active, expired, aged")


class IlnpSessionAnswer(BaseModel):
    """A session between identifiers."""

    number: int = Field(description="number of the session")
    local: str = Field(description="the identifier of the host here")
    peer: str = Field(description="the identifier of its peer")
    local_address: str = Field(description="the address that the host has")
    peer_address: str = Field(description="the address that it knows its peer by")
    state: str = Field(description="acknowledged or established")
    source: str = Field(description="the locator that packets leave from")
    provider: str | None = Field(description="provider that packets leave by; null where none has the locator")
    destination: str = Field(description="the locator that they go to")
    reason: str = Field(description="why they go that way")
    nonce_octets: int = Field(description="length of its nonces in octets")
    bears_nonce: bool = Field(description="whether all packets bear it now")
    telling: str = Field(description="whether the peer knows our locators: told, under way, unheard")
    peer_locators: list[PeerLocator] = Field(description="locators that the peer told, or the DNS")


class AdmissionAnswer(BaseModel):
    """Who is let in."""

    sessions: int = Field(description="sessions that stand")
    places: int = Field(description="of the cache that are taken, also by what hosts here ask for")
    capacity: int = Field(description="places of the cache in all")
    count: int = Field(description="others may open sessions as long as no more places are taken")
    resources_used: float = Field(description="of the switch's room for sessions, from 0 to 1")
    resources: float = Field(description="others may open sessions as long as no more is used")
    rate: float | None = Field(description="new sessions a second from a prefix; null is without bound")
    burst: float = Field(description="new sessions that a prefix may begin at once, before `rate` counts")
    rate_prefix: int = Field(description="the length of such a prefix")
    nonce_octets: int = Field(description="length of nonces in octets")
    nonce_use: str = Field(description="which packets bear a nonce: all of them, or those of the beginning")
    naive: bool = Field(description="each packet with a nonce makes a session: for experiments only")
    idle: float = Field(description="seconds without a packet after which a session is collected")


class HostName(BaseModel):
    """A name that this edge tells the DNS of."""

    name: str = Field(description="domain name of the host")
    told: str = Field(description="what the DNS was told of it last")
    is_told: bool = Field(description="whether the server took it")


class PeerName(BaseModel):
    """A peer that is looked up by its name."""

    name: str = Field(description="domain name of the peer")
    identifier: str = Field(description="its 64-bit identifier")
    found: str | None = Field(description="what the DNS said last; null if it was not asked")


class NamesAnswer(BaseModel):
    """What the DNS is told and asked."""

    server: str | None = Field(description="DNS server that is told and asked; null where there is none")
    hosts: list[HostName] = Field(description="names that it is told of")
    peers: list[PeerName] = Field(description="names that it is asked for")


class IlnpProvider(BaseModel):
    """A provider of the sites here."""

    name: str = Field(description="name of the provider in the configuration")
    prefix: str = Field(description="prefix that sites have by it")
    state: str = Field(description="up, down, or to be left")


class Draining(BaseModel):
    """Whether sessions are to leave a provider."""

    draining: bool = Field(
        description="true: sessions leave it while it still works; false: they use it again", examples=[True]
    )


def serve(app: FastAPI, running: Running) -> None:
    """Serve sessions between identifiers."""

    @app.get("/v1/ilnp/sessions", openapi_extra=READ, response_model=list[IlnpSessionAnswer])
    async def sessions() -> StreamingResponse:
        """All sessions between identifiers."""
        known, now = running.edge.manager(IlnpSessions), running.now
        tellers = [partial(_session, known, session, now) for session in known] if known else []
        return streamed_array(IlnpSessionAnswer, tellers)

    @app.get("/v1/ilnp/policies", openapi_extra=READ, responses={404: {"model": Problem}})
    async def policies() -> AdmissionAnswer:
        """Who is let in, and how much room there is."""
        return _policies(_known(running))

    @app.get("/v1/ilnp/names", openapi_extra=READ)
    async def names() -> NamesAnswer:
        """Names that are told, and names that are looked up."""
        return _names(running.edge.manager(IlnpSessions))

    @app.get("/v1/ilnp/providers", openapi_extra=READ)
    async def providers() -> list[IlnpProvider]:
        """Providers, and which are to be left."""
        return _providers(running)

    @app.post("/v1/ilnp/providers/{name}", openapi_extra=OPERATE, responses={404: {"model": Problem}})
    async def drain(
        name: Annotated[str, Path(description="name of the provider in the configuration")], wish: Draining
    ) -> list[IlnpProvider]:
        """Let sessions leave a provider while it still works, or use it again."""
        _known(running)
        known = [provider.name for provider in running.config.providers]
        if name not in known:
            raise ApiError(404, "No such provider", f"{name!r}; the providers are {', '.join(known) or 'none'}")
        done = await running.command(DrainProvider(name, wish.draining))
        await done.wait()
        return _providers(running)


def _known(running: Running) -> IlnpSessions:
    known = running.edge.manager(IlnpSessions)
    if known is None:
        raise ApiError(404, "No ILNP", "the configuration has no [ilnp]; docs/configuration.md says how to write it")
    return known


def _session(known: IlnpSessions, session: IlnpSession, now: float) -> IlnpSessionAnswer:
    stands, entry = session.stands, known.entry(session.names)
    return IlnpSessionAnswer(
        number=session.number,
        local=half_text(session.names.local),
        peer=half_text(session.names.peer),
        local_address=str(stands.local_identity),
        peer_address=str(stands.peer_identity),
        state=entry.state.name.lower() if entry else "",
        source=half_text(stands.source),
        provider=known.provider_of(Vector(stands.source, session.names.local).address),
        destination=half_text(stands.destination),
        reason=session.reason,
        nonce_octets=len(stands.nonce_to_peer),
        bears_nonce=stands.bears_nonce,
        telling=entry.told.state.name.lower().replace("_", " ") if entry else "",
        peer_locators=[
            PeerLocator(
                locator=half_text(locator),
                preference=one.listed.preference,
                validity=one.validity(now).name.lower(),
            )
            for locator, one in (entry.peer_locators.known.items() if entry else ())
        ],
    )


def _policies(known: IlnpSessions) -> AdmissionAnswer:
    rules = known.rules
    return AdmissionAnswer(
        sessions=len(list(known)),
        places=known.places,
        capacity=rules.capacity,
        count=rules.policies.count,
        resources_used=known.resources_used,
        resources=rules.policies.resources,
        rate=rules.policies.rate,
        burst=rules.policies.burst,
        rate_prefix=rules.policies.rate_prefix,
        nonce_octets=rules.nonce_octets,
        nonce_use=rules.nonce_use,
        naive=rules.naive,
        idle=rules.idle,
    )


def _names(known: IlnpSessions | None) -> NamesAnswer:
    if known is None or known.directory is None or known.rules.names is None:
        return NamesAnswer(server=None, hosts=[], peers=[])
    directory, names = known.directory, known.rules.names
    return NamesAnswer(
        server=f"[{names.server}]:{names.port}",
        hosts=[
            HostName(name=str(each.name), told=in_words(each.told), is_told=each.is_told)
            for each in directory.published.values()
        ],
        peers=[
            PeerName(
                name=str(name),
                identifier=half_text(nid),
                found=_found(directory.found[nid]) if nid in directory.found else None,
            )
            for nid, name in directory.peers.items()
        ],
    )


def _found(found: Found | None) -> str:
    return in_words(found.listed) if found else "nothing"


def _providers(running: Running) -> list[IlnpProvider]:
    known = running.edge.manager(IlnpSessions)
    return [
        IlnpProvider(name=each.name, prefix=str(each.prefix), state=known.provider_state(each))
        for each in running.config.providers
        if known
    ]
