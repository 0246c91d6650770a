"""Providers in the API: whether each can be used, why not, and what its targets say."""

from __future__ import annotations

from fastapi import FastAPI
from pydantic import BaseModel, Field

from wayname.config.model import Provider
from wayname.snapshot.running import Running


class TargetAnswer(BaseModel):
    """Somebody beyond a provider who is asked through it."""

    target: str
    up: bool
    loss: float | None = Field(description="part of the last 20 probes that was lost; null before the first")
    delay: float | None = Field(description="mean round trip of those that were answered, in seconds")
    why: str = Field(description="why it is down")


class ProviderState(BaseModel):
    """A provider, as all that choose among providers see it."""

    name: str
    prefix: str
    used: bool
    why: str = Field(description="what is wrong with it; it may be used all the same where no other works")
    source: str | None = Field(description="the address that probes come from; null of one that is not tracked")
    unexpected_answers: int = Field(description="packets to that address that answer no probe")
    targets: list[TargetAnswer]


def serve_providers(app: FastAPI, running: Running) -> None:
    """Serve providers."""

    @app.get("/v1/providers")
    async def providers() -> list[ProviderState]:
        """Providers, whether each can be used, and what its targets say."""
        return [_state(running, provider) for provider in running.config.providers]


def _state(running: Running, provider: Provider) -> ProviderState:
    reachability = running.edge.reachability
    tracked = running.edge.tracking.providers.get(provider.name)
    return ProviderState(
        name=provider.name,
        prefix=str(provider.prefix),
        used=reachability.is_open(provider),
        why=reachability.why_closed(provider),
        source=str(tracked.source) if tracked else None,
        unexpected_answers=tracked.unexpected if tracked else 0,
        targets=[
            TargetAnswer(target=str(each.target), up=each.is_up, loss=each.loss, delay=each.delay, why=each.why)
            for each in (tracked.targets if tracked else ())
        ],
    )
