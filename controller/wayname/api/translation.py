"""Translation in the API: prefixes, providers and what became of flows."""

from __future__ import annotations

from collections import Counter

from fastapi import FastAPI
from pydantic import BaseModel, Field

from wayname.api.picture import Picture
from wayname.api.running import Running
from wayname.api.sessions import ReadTables
from wayname.edge.translation.translation import ProviderState
from wayname.pipeline.borders import State

COUNTED = ("translations", "site_destinations")
WORDS = {State.WORKS: "works", State.HELD: "down, connections wait", State.FAILED: "down"}


class ProviderAnswer(BaseModel):
    """A provider as flows see it."""

    name: str
    prefix: str = Field(description="what its flows bear outside")
    inside: str = Field(description="what they bear inside")
    state: str = Field(description="works, or down")
    down_for: float | None = Field(description="seconds since it failed")
    home: int = Field(description="buckets of flows that are at home with it")
    serves: int = Field(description="buckets whose new flows go by it now")
    sent_packets: int | None = None
    sent_bytes: int | None = None
    received_packets: int | None = None
    received_bytes: int | None = None


class FlowAnswer(BaseModel):
    """A flow whose provider failed."""

    ago: float = Field(description="seconds")
    local: str
    local_port: int
    remote: str
    remote_port: int
    protocol: int
    provider: str
    fate: str = Field(description="lost, moved (under another address) or went on")
    why: str


class TranslationAnswer(BaseModel):
    """The border of the site."""

    providers: list[ProviderAnswer]
    counts: dict[str, int] = Field(description="flows by what became of them")
    flows: list[FlowAnswer] = Field(description="the last of them")


def serve_translation(app: FastAPI, running: Running, read: ReadTables) -> None:
    """Serve translation."""

    @app.get("/v1/translation")
    async def translation() -> TranslationAnswer:
        """Providers, what went by each if the switch is there, and flows whose provider failed."""
        picture = await read(running, list(COUNTED)) if running.connected else None
        return answer(running, picture)


def answer(running: Running, picture: Picture | None) -> TranslationAnswer:
    """Return the border in words."""
    known = running.edge.translation
    return TranslationAnswer(
        providers=[_provider(running, each, picture) for each in known.providers.values()],
        counts={fate.value: count for fate, count in known.flows.counts.items()},
        flows=[
            FlowAnswer(
                ago=running.now - told.time,
                local=str(told.flow.local),
                local_port=told.flow.local_port,
                remote=str(told.flow.remote),
                remote_port=told.flow.remote_port,
                protocol=told.flow.protocol,
                provider=told.provider,
                fate=told.fate.value,
                why=told.why,
            )
            for told in known.flows.last
        ],
    )


def _provider(running: Running, each: ProviderState, picture: Picture | None) -> ProviderAnswer:
    known = running.edge.translation
    rules = next(
        rules for rules in running.config.translations if each.provider.name in (name for name, _ in rules.shares)
    )
    home, serves = known.share(each.provider.name)
    made = ProviderAnswer(
        name=each.provider.name,
        prefix=str(each.provider.prefix),
        inside=str(rules.inside),
        state=WORDS[each.state],
        down_for=None if each.state is State.WORKS else running.now - each.since,
        home=home,
        serves=serves,
    )
    if picture is not None:
        made.sent_packets, made.sent_bytes = _count(picture, "translations", each.number)
        made.received_packets, made.received_bytes = _count(picture, "site_destinations", each.number)
    return made


def _count(picture: Picture, table: str, provider: int) -> tuple[int, int]:
    counts: Counter[str] = Counter()
    for entry in picture.tables[table].entries:
        if entry.match.get("provider", entry.parameters.get("by")) == provider:
            counts.update(packets=entry.count.packets, bytes=entry.count.bytes)
    return counts["packets"], counts["bytes"]
