"""HIP in the API: who the hosts are, which associations stand, and doing something about one.

Tags and keys are not told: who knows a tag can put packets into a session.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from ipaddress import IPv6Address
from typing import Any

from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from wayname.api.problems import ApiError, Problem
from wayname.api.roles import OPERATE, READ
from wayname.api.streamed_array import streamed_array
from wayname.edge.boundary import AssociationAction, ChangeAssociation
from wayname.hip.edge.native_sessions import EspSessions
from wayname.hip.edge.observations import proven
from wayname.hip.edge.sessions import HipAssociationView, HipSessions
from wayname.hip.records import make_record
from wayname.hip.suites import Algorithm
from wayname.session.keys import SessionKey
from wayname.session.session import Session
from wayname.snapshot.running import Running

REFUSED: dict[int | str, dict[str, Any]] = {404: {"model": Problem}, 409: {"model": Problem}}


class HipHostAnswer(BaseModel):
    """A host that the edge speaks for."""

    address: str = Field(description="IPv6 address of the host")
    hit: str = Field(description="its host identity tag (HIT, RFC 7401)")
    algorithm: str = Field(description="of its host identity: RSA or ECDSA")
    record: str = Field(description="its HIP record for the DNS, behind the name (RFC 8005)")


class HipPeerAnswer(BaseModel):
    """Somebody whom hosts here may have associations with."""

    address: str = Field(description="IPv6 address that hosts here know the peer by")
    hit: str = Field(description="the peer's host identity tag (HIT)")


class HipHostsAnswer(BaseModel):
    """Who is known, and how much work it is to ask."""

    hosts: list[HipHostAnswer] = Field(description="hosts here that have a host identity")
    peers: list[HipPeerAnswer] = Field(description="peers that are known by configuration or DNS")
    difficulty: int = Field(description="bits of a puzzle for who asks now")
    least_difficulty: int = Field(description="bits of a puzzle while nobody hurries")
    max_difficulty: int = Field(description="most bits that a puzzle gets")


class AssociationAnswer(BaseModel):
    """An association of a host here."""

    local: str = Field(description="the address of the host here; its HIT if it speaks HIP itself")
    peer: str = Field(description="the address that it knows its peer by, or that one's HIT")
    local_hit: str = Field(description="HIT of the host here")
    peer_hit: str = Field(description="HIT of its peer")
    spoken_by: str = Field(description="edge or host")
    state: str = Field(description="of the HIP state machine (RFC 7401, section 4.4), as established")
    session: int | None = Field(description="the number of its session")
    locators: list[str] = Field(description="where the peer is for certain, what it prefers first")
    unverified: list[str] = Field(description="where it says that it is")
    spis: list[int] = Field(description="of a host that speaks itself: what it receives")
    peer_spis: list[int] = Field(description="what its peer receives")


class AssociationChange(BaseModel):
    """What is to be done about which association."""

    local: IPv6Address = Field(description="address of the host here, or its HIT", examples=["2001:db8:1::11"])
    peer: IPv6Address = Field(
        description="address that it knows its peer by, or the HIT of that one", examples=["2001:db8:2::22"]
    )
    wish: AssociationAction = Field(
        description="what is to be done: connect, renew its keys, or close it", examples=["connect"]
    )


def serve(app: FastAPI, running: Running) -> None:
    """Serve associations and identities."""

    @app.get("/v1/hip/associations", openapi_extra=READ, response_model=list[AssociationAnswer])
    async def associations() -> StreamingResponse:
        """All associations of hosts here, whoever speaks for them."""
        return _associations(running)

    @app.get("/v1/hip/hosts", openapi_extra=READ, responses={404: {"model": Problem}})
    async def hosts() -> HipHostsAnswer:
        """Identities of hosts here and of their peers, and how difficult puzzles are."""
        return _hosts(_known(running), running.now)

    @app.post("/v1/hip/associations", openapi_extra=OPERATE, responses=REFUSED, response_model=list[AssociationAnswer])
    async def change_association(change: AssociationChange) -> StreamingResponse:
        """Set an association up, set it up anew with new keys, or close it."""
        refusal = _known(running).refusal(change.local, change.peer, change.wish)
        if refusal is not None:
            raise ApiError(409, f"No {change.wish}", f"{change.local} with {change.peer}: {refusal}")
        done = await running.command(ChangeAssociation(change.local, change.peer, change.wish))
        await done.wait()
        return _associations(running)


def _known(running: Running) -> HipSessions:
    known = running.edge.manager(HipSessions)
    if known is None:
        raise ApiError(404, "No HIP", "the configuration has no [hip]; docs/configuration.md says how to write it")
    return known


def _hosts(known: HipSessions, now: float) -> HipHostsAnswer:
    return HipHostsAnswer(
        hosts=[
            HipHostAnswer(
                address=str(address),
                hit=str(identity.hit),
                algorithm=Algorithm(identity.host.algorithm).name,
                record=f"HIP {make_record(identity.host).to_text()}",
            )
            for address, identity in known.identities.items()
        ],
        peers=[HipPeerAnswer(address=str(address), hit=str(hit)) for address, hit in known.peers.items()],
        difficulty=known.difficulty(now),
        least_difficulty=known.config.difficulty,
        max_difficulty=known.config.max_difficulty,
    )


def _associations(running: Running) -> StreamingResponse:
    edge, native, now = running.edge.manager(HipSessions), running.edge.manager(EspSessions), running.now
    tellers: list[Callable[[], AssociationAnswer]] = []
    if edge is not None and native is not None:
        tellers += [partial(_spoken_here, edge, each, now) for each in edge.associations()]
        tellers += [partial(_native, native, session, now) for session in native]
    return streamed_array(AssociationAnswer, tellers)


def _spoken_here(known: HipSessions, each: HipAssociationView, now: float) -> AssociationAnswer:
    session = known.named(SessionKey(each.local, each.peer))
    peer = each.association.peer
    active = [str(one.address) for one in peer.active(now)]
    return AssociationAnswer(
        local=str(each.local),
        peer=str(each.peer),
        local_hit=str(each.association.names.local),
        peer_hit=str(each.association.names.peer),
        spoken_by="edge",
        state=each.association.state.name.lower().replace("_", " "),
        session=session.number if session else None,
        locators=active,
        unverified=[str(address) for address in peer.known if str(address) not in active],
        spis=[],
        peer_spis=[],
    )


def _native(known: EspSessions, session: Session, now: float) -> AssociationAnswer:
    there = known.peer_of(session)
    active = [str(address) for address in proven(there.locators, now)]
    return AssociationAnswer(
        local=str(session.name.local),
        peer=str(session.name.peer),
        local_hit=str(session.name.local),
        peer_hit=str(session.name.peer),
        spoken_by="host",
        state="established",
        session=session.number,
        locators=active,
        unverified=[str(address) for address in there.locators.known if str(address) not in active],
        spis=list(session.esp.spis) if session.esp else [],
        peer_spis=list(session.esp.peer_spis) if session.esp else [],
    )
