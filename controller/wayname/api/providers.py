"""Providers in the API: whether each can be used, why not, and what its targets say."""

from __future__ import annotations

from math import inf

from fastapi import FastAPI
from pydantic import BaseModel, Field

from wayname.api.roles import READ
from wayname.api.views import is_used
from wayname.config.provider import DELEGATED, WrittenProvider
from wayname.snapshot.running import Running


class TargetAnswer(BaseModel):
    """Somebody beyond a provider who is asked through it."""

    target: str = Field(description="who is asked: an address, a TCP port or a DNS server, as the configuration has it")
    up: bool = Field(description="whether it answers as often and as fast as is wanted")
    loss: float | None = Field(description="part of the last 20 probes that was lost; null before the first")
    delay: float | None = Field(description="mean round trip of those that were answered, in seconds")
    why: str = Field(description="why it is down")


class ProviderPrefix(BaseModel):
    """A prefix of a provider."""

    prefix: str = Field(description="IPv6 prefix")
    phase: str = Field(description="preferred, deprecated (for what goes by it already) or ended")
    preferred: float | None = Field(description="seconds for which it is preferred; null is without end")
    valid: float | None = Field(description="seconds for which it is valid; null is without end")


class ProviderState(BaseModel):
    """A provider, as all that choose among providers see it."""

    name: str = Field(description="name of the provider in the configuration")
    prefix: str | None = Field(description="the one for new things; null of a provider that has none yet")
    prefix_source: str = Field(description="configuration or dhcpv6-pd")
    prefixes: list[ProviderPrefix] = Field(description="all that it has, the best first")
    routers: list[str] = Field(description="its next hops")
    used: bool = Field(description="whether new things go by it")
    why: str = Field(description="what is wrong with it; it may be used all the same where no other works")
    source: str | None = Field(description="the address that probes come from; null of one that is not tracked")
    unexpected_answers: int = Field(description="packets to that address that answer no probe")
    targets: list[TargetAnswer] = Field(description="who beyond it is asked, and what they say")


def serve_providers(app: FastAPI, running: Running) -> None:
    """Serve providers."""

    @app.get("/v1/providers", openapi_extra=READ)
    async def providers() -> list[ProviderState]:
        """Providers, whether each can be used, and what its targets say."""
        return [_state(running, written) for written in running.config.written_providers]


def _prefixes(running: Running, written: WrittenProvider) -> list[ProviderPrefix]:
    source = running.edge.provider_prefixes.sources.get(written.name)
    found = []
    for each in written.providers:
        held = source.prefixes.get(each.prefix) if source else None
        is_delegated = source is not None and source.about.is_delegated
        preferred, valid = (held.preferred - running.now, held.valid - running.now) if held else (0.0, 0.0)
        lifetimes = [
            None if not is_delegated or seconds == inf else max(seconds, 0.0) for seconds in (preferred, valid)
        ]
        found.append(
            ProviderPrefix(prefix=str(each.prefix), phase=each.phase, preferred=lifetimes[0], valid=lifetimes[1])
        )
    return found


def _why_absent(running: Running, written: WrittenProvider) -> str:
    source = running.edge.provider_prefixes.sources.get(written.name)
    if source is None:
        return "it has no prefix"
    missing = []
    if source.about.is_delegated and not source.learned.prefixes:
        missing.append("no DHCPv6 server has delegated its prefix yet")
    if source.about.finds_routers and not source.learned.routers:
        missing.append("no router there advertises itself")
    return "; ".join(missing) or "what it said is being written to the tables"


def _state(running: Running, written: WrittenProvider) -> ProviderState:
    reachability = running.edge.reachability
    tracked = running.edge.tracking.providers.get(written.name)
    provider = next(iter(written.providers), None)
    return ProviderState(
        name=written.name,
        prefix=str(provider.prefix) if provider else None,
        prefix_source=DELEGATED if written.source and written.source.is_delegated else "configuration",
        prefixes=_prefixes(running, written),
        routers=[str(hop.address) for hop, _ in provider.via] if provider else [],
        used=is_used(running, written),
        why=reachability.why_closed(provider) if provider else _why_absent(running, written),
        source=str(tracked.source) if tracked else None,
        unexpected_answers=tracked.unexpected if tracked else 0,
        targets=[
            TargetAnswer(target=str(each.target), up=each.is_up, loss=each.loss, delay=each.delay, why=each.why)
            for each in (tracked.targets if tracked else ())
        ],
    )
