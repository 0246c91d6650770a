"""A session as the API tells of it, whatever its protocol is."""

from __future__ import annotations

from pydantic import BaseModel, Field


class Path(BaseModel):
    """A path of a session."""

    number: int = Field(description="number of the path in its session")
    local: str = Field(description="our locator")
    peer: str = Field(description="the peer's locator")
    provider: str | None = Field(description="by whom it leaves")
    header: bool = Field(description="whether its packets bear a payload header; those with the identities need none")
    state: str = Field(description="works, not tried, does not answer, or its provider is down")
    backup: int | None = Field(description="where the switch goes if there is no answer")
    sent_packets: int | None = Field(default=None, description="packets sent by it; null while the switch is not there")
    sent_bytes: int | None = Field(default=None, description="octets of these")
    received_packets: int | None = Field(
        default=None, description="packets received by it; null while the switch is not there"
    )
    received_bytes: int | None = Field(default=None, description="octets of these")


class SessionAnswer(BaseModel):
    """A session as it stands now."""

    number: int = Field(description="number of the session")
    local: str = Field(description="the identity of the host here")
    peer: str = Field(description="the identity of its peer")
    path: int = Field(description="the path in use")
    schedule: str | None = Field(default=None, description="whose paths its packets take instead, if any")
    scheduled_paths: list[int] = Field(default=[], description="those paths")
    figures: str | None = Field(default=None, description="where that schedule's delays and bandwidths come from")
    numbered: bool = Field(
        default=False, description="whether its two edges agreed that packets are numbered by path, and reported"
    )
    in_order: bool = Field(
        default=False, description="whether they put packets in order, and send again what a path lost (reinjection)"
    )
    takes_copies: bool = Field(
        default=False, description="whether the peer's edge said that it drops what comes twice (policy redundant)"
    )
    reason: str = Field(description="why it is on this path")
    generation: int = Field(description="goes up whenever the controller moves the session")
    send_timeout: float = Field(description="seconds without an answer after which a path is left (Tsend)")
    keepalive: float = Field(description="seconds of silence after which a keepalive is sent")
    state: str = Field(description="what is being done about it")
    fork_of: int | None = Field(description="the session that this one was forked from")
    ports: tuple[int, int] | None = Field(description="of a fork: our host's port and the peer's")
    preferred: dict[str, int] = Field(default={}, description="paths of flows that take their own, by path policy")
    replicated: dict[str, int] = Field(
        default={}, description="in how many copies packets of flows go, each by another path, by path policy"
    )
    forks: list[int] = Field(description="the sessions that were forked from this one")
    paths: list[Path] = Field(description="paths that it knows")
