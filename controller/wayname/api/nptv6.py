"""Translation in the API: prefixes, providers and what became of flows."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel, Field, JsonValue

from wayname.api.problems import ApiError, Problem
from wayname.api.roles import OPERATE, READ
from wayname.api.sessions import ReadTables
from wayname.config.nptv6 import MOST_POLICIES, read_change
from wayname.config.tables import ConfigError
from wayname.edge.boundary import SetNptv6
from wayname.edge.nptv6.nptv6 import ProviderStatus
from wayname.metrics.providers import TRANSLATED, translated
from wayname.p4_constants import ProviderHealth
from wayname.snapshot.running import Running
from wayname.snapshot.switch_snapshot import SwitchSnapshot

REFUSED: dict[int | str, dict[str, Any]] = {
    404: {"model": Problem, "description": "no such prefix is translated"},
    409: {"model": Problem, "description": "it cannot be; nothing was changed"},
}
WORDS = {ProviderHealth.WORKS: "works", ProviderHealth.HELD: "down, connections wait", ProviderHealth.FAILED: "down"}


class ProviderAnswer(BaseModel):
    """A provider as flows see it."""

    name: str = Field(description="name of the provider in the configuration")
    prefix: str = Field(description="what its flows bear outside")
    inside: str = Field(description="what they bear inside")
    state: str = Field(description="works, or down")
    down_for: float | None = Field(description="seconds since it failed")
    home: int = Field(description="buckets of flows that are at home with it")
    serves: int = Field(description="buckets whose new flows go by it now")
    sent_packets: int | None = Field(
        default=None, description="packets translated on their way out; null while the switch is not there"
    )
    sent_bytes: int | None = Field(default=None, description="octets of these")
    received_packets: int | None = Field(
        default=None, description="packets translated on their way in; null while the switch is not there"
    )
    received_bytes: int | None = Field(default=None, description="octets of these")


class FlowAnswer(BaseModel):
    """A flow whose provider failed."""

    ago: float = Field(description="seconds")
    local: str = Field(description="address of the host here")
    local_port: int = Field(description="its TCP or UDP port")
    remote: str = Field(description="address of the other end")
    remote_port: int = Field(description="its port")
    protocol: int = Field(description="protocol number: 6 is TCP, 17 UDP")
    provider: str = Field(description="provider that the flow went by")
    fate: str = Field(description="lost, moved (under another address) or went on")
    why: str = Field(description="what happened to the provider")


class PolicyAnswer(BaseModel):
    """Which flows go by which providers; what is null does not matter."""

    local: str | None = Field(default=None, description="prefix of hosts here")
    remote: str | None = Field(default=None, description="prefix of the other ends")
    protocol: int | None = Field(default=None, description="protocol number")
    local_ports: str | None = Field(default=None, description="ports of hosts here, as 1000-1999")
    remote_ports: str | None = Field(default=None, description="ports of the other ends")
    providers: list[str] = Field(description="providers that these flows may go by")
    weights: list[int] = Field(description="share of each of them, in their order")
    origin: str = Field(description="file, or live: added since")


class RulesAnswer(BaseModel):
    """A prefix inside, and how its new flows are shared out; the first policy that fits counts."""

    inside: str = Field(description="prefix inside that is translated")
    providers: list[str] = Field(description="providers of flows that no policy is for")
    weights: list[int] = Field(description="share of each of them, in their order")
    policies: list[PolicyAnswer] = Field(description="policies, in the order that they are tried")


class Nptv6Request(BaseModel):
    """Other shares for new flows of a prefix; policies of the configuration keep their places, others come behind."""

    inside: str = Field(description="prefix inside that the rules are for", examples=["fd12:3456:789a::/48"])
    providers: list[str] | None = Field(
        default=None,
        description="providers of flows that no policy is for; null leaves them",
        examples=[["isp-a", "isp-b"]],
    )
    weights: list[int] | None = Field(
        default=None, description="share of each of them, in their order; null leaves them", examples=[[3, 1]]
    )
    policy: list[dict[str, JsonValue]] = Field(
        default_factory=list,
        description="keys as in the configuration",
        examples=[[{"providers": ["isp-b"], "protocol": 17}]],
    )


class Nptv6Answer(BaseModel):
    """The border of the site."""

    providers: list[ProviderAnswer] = Field(description="providers, and what flows make of each")
    counts: dict[str, int] = Field(description="flows by what became of them")
    flows: list[FlowAnswer] = Field(description="the last of them")


def serve_nptv6(app: FastAPI, running: Running, read: ReadTables) -> None:
    """Serve translation."""

    @app.get("/v1/nptv6/rules", openapi_extra=READ)
    async def rules() -> list[RulesAnswer]:
        """How new flows are shared out now."""
        return _rules(running)

    @app.post("/v1/nptv6/rules", openapi_extra=OPERATE, responses=REFUSED)
    async def change_rules(wish: Nptv6Request) -> list[RulesAnswer]:
        """Share new flows out another way; connections stay with their providers."""
        await change(running, wish)
        return _rules(running)

    @app.get("/v1/nptv6", openapi_extra=READ)
    async def translation() -> Nptv6Answer:
        """Providers, what went by each if the switch is there, and flows whose provider failed."""
        switch_snapshot = await read(running, list(TRANSLATED.values())) if running.connected else None
        return answer(running, switch_snapshot)


async def change(running: Running, wish: Nptv6Request) -> None:
    """Have the switch do as it is wanted now, or refuse."""
    known = running.edge.translation
    configured = {str(rules.inside): rules for rules in running.config.translations}
    if wish.inside not in configured:
        inside = ", ".join(configured) or "none; [[nptv6]] of the configuration makes one"
        raise ApiError(404, "No such prefix", f"{wish.inside!r}; the prefixes inside are: {inside}")
    values = {key: value for key, value in wish.model_dump().items() if key != "inside" and value is not None}
    try:
        rules = read_change(values, configured[wish.inside])
    except ConfigError as error:
        raise ApiError(409, "Refused", str(error)) from None
    others = sum(len(each.policies) for each in known.rules if each.inside != rules.inside)
    if others + len(rules.policies) > MOST_POLICIES:
        raise ApiError(409, "Refused", f"there are too many policies; {MOST_POLICIES} at most have buckets")
    await (await running.command(SetNptv6(rules))).wait()


def answer(running: Running, switch_snapshot: SwitchSnapshot | None) -> Nptv6Answer:
    """Return the border in words."""
    known = running.edge.translation
    return Nptv6Answer(
        providers=[_provider(running, each, switch_snapshot) for each in known.providers.values()],
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


def _rules(running: Running) -> list[RulesAnswer]:
    answers = []
    for configured, rules in zip(running.config.translations, running.edge.translation.rules, strict=True):
        policies = [
            PolicyAnswer(
                local=None if policy.local is None else str(policy.local),
                remote=None if policy.remote is None else str(policy.remote),
                protocol=policy.protocol,
                local_ports=_ports(policy.local_ports),
                remote_ports=_ports(policy.remote_ports),
                providers=[name for name, _ in policy.shares],
                weights=[weight for _, weight in policy.shares],
                origin="file" if index < len(configured.policies) else "live",
            )
            for index, policy in enumerate(rules.policies)
        ]
        names, weights = [name for name, _ in rules.shares], [weight for _, weight in rules.shares]
        answers.append(RulesAnswer(inside=str(rules.inside), providers=names, weights=weights, policies=policies))
    return answers


def _ports(ports: tuple[int, int] | None) -> str | None:
    return f"{ports[0]}-{ports[1]}" if ports else None


def _provider(running: Running, each: ProviderStatus, switch_snapshot: SwitchSnapshot | None) -> ProviderAnswer:
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
        down_for=None if each.state is ProviderHealth.WORKS else running.now - each.since,
        home=home,
        serves=serves,
    )
    if switch_snapshot is not None:
        made.sent_packets, made.sent_bytes = _count(switch_snapshot, "sent", each)
        made.received_packets, made.received_bytes = _count(switch_snapshot, "received", each)
    return made


def _count(switch_snapshot: SwitchSnapshot, direction: str, provider: ProviderStatus) -> tuple[int, int]:
    counted = translated(switch_snapshot, TRANSLATED[direction], provider.number)
    return counted["packets"], counted["bytes"]
