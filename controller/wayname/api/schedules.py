"""Schedules in the API: which sessions go by which paths, how these are, and another policy for them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import FastAPI, Path
from pydantic import BaseModel, Field

from wayname.api.problems import ApiError, Problem
from wayname.api.roles import OPERATE, READ
from wayname.config.schedules import SchedulingPolicy, Source
from wayname.edge.boundary import ImportPathEstimates, SetPolicy
from wayname.ioam.path_metrics import NodeMetrics, PathId, PathMetrics, Summary
from wayname.session.scheduling.group import PathReport, ScheduleRule
from wayname.session.scheduling.left_paths import LeftPath
from wayname.session.scheduling.path_estimates import EstimateOrigin, PathEstimates
from wayname.snapshot.running import Running

NO_SCHEDULE: dict[int | str, dict[str, Any]] = {404: {"model": Problem, "description": "there is no such schedule"}}

NOT_SET: dict[int | str, dict[str, Any]] = {
    **NO_SCHEDULE,
    409: {"model": Problem, "description": "the schedule cannot have this policy"},
}

NOT_READ: dict[int | str, dict[str, Any]] = {422: {"model": Problem, "description": "these are no figures of paths"}}


class ConfiguredPath(BaseModel):
    """A path as the configuration names it, with what it is taken to be now."""

    provider: str = Field(description="provider that it leaves by")
    remote: str | None = Field(description="where the peer's locators are; null is anywhere")
    delay: float = Field(description="seconds, one way")
    bandwidth: float = Field(description="bit/s")
    trace: str | None = Field(description="by which traces it is measured")
    probe: str | None = Field(description="the peer's segment that sends this edge's probes back")
    measured: bool = Field(description="whether traces said something else than the configuration")
    told_by: EstimateOrigin = Field(description="where the figures come from: configuration, probes, traces or brought")
    told_seconds_ago: float | None = Field(description="how old they are; null of the configuration's")
    missing: str = Field(description="why the configuration counts, where traces are asked for")


class PathOfGroup(BaseModel):
    """A path that sessions go by, or left, and what the switch told of it last; null is nothing."""

    name: str = Field(description="provider, and where the peer is")
    state: str = Field(description="open or closed, as the switch told last; left: no session takes it")
    why: str = Field(description="what closed or opened it, or why no session takes it")
    for_seconds: float | None = Field(description="since when it is closed, open again or left")
    late: float | None = Field(description="seconds that its last mark was late")
    delay: float | None = Field(description="as the marks have it")
    bandwidth: float | None = Field(description="as the marks have it")
    queue: float | None = Field(
        description="seconds that what fits into its queue takes, as configured or as losses have it; null if unknown"
    )
    window: int | None = Field(
        description="octets that may be under way by it: bandwidth times delay and queue; null if unknown"
    )
    reported_seconds_ago: float | None = Field(
        description="how long ago the switch last told of peers' reports, as it does once in a probe interval at most"
    )
    packets: int = Field(
        description="that peers' edges reported of in all, with feedback, since the paths were last known anew; of them"
    )
    lost: int = Field(description="those that did not come")
    marked: int = Field(description="those that met congestion (ECN)")


class GroupAnswer(BaseModel):
    """Sessions of a schedule: they know what the others send."""

    number: int = Field(description="of their registers on the switch")
    generation: int = Field(description="goes up when the registers begin anew")
    sessions: list[int] = Field(description="numbers of its sessions; none where too few paths work")
    replicated: list[int] = Field(description="those of them whose packets go in several copies (policy redundant)")
    numbered: list[int] = Field(description="those whose packets are numbered, so that the peer's edge reports them")
    in_order: list[int] = Field(
        description="those whose packets are put in order, and go again where a path lost them (reinjection)"
    )
    paths: list[PathOfGroup] = Field(description="that any of them takes, or left")


class ScheduleAnswer(BaseModel):
    """A schedule as it is now."""

    name: str = Field(description="name of the schedule in the configuration")
    policy: SchedulingPolicy = Field(description="how packets are shared out now")
    configured: SchedulingPolicy = Field(description="the policy of the configuration")
    source: str = Field(description="where delays and bandwidths come from: fixed, marks, feedback or ioam")
    close: bool = Field(description="whether late paths, and those that lose packets, are closed")
    tolerance: float = Field(description="seconds that a marked packet may be late before its path is closed")
    probe_interval: float = Field(description="seconds between two probes of a closed path")
    hold: float = Field(
        description="seconds for which senders do not hear that a packet is missing; 0: they do at once"
    )
    reinjection: bool = Field(
        description="whether what a path loses is to go by the others, with feedback: `in_order` of groups says where"
    )
    framing: int = Field(description="octets that links add to each packet")
    copies: int = Field(description="in how many each packet goes with policy redundant")
    paths: list[ConfiguredPath] = Field(description="paths that it has in the configuration")
    groups: list[GroupAnswer] = Field(description="sessions that use it, by the paths that they share")


class Smoothed(BaseModel):
    """A value that was seen again and again, as `/v1/ioam/paths` has it."""

    smoothed: float = Field(description="smoothed value")
    count: int = Field(ge=1, description="how many values there were")

    def summary(self) -> Summary:
        """Return it as the collector keeps it."""
        return Summary(self.count, smoothed=self.smoothed)


class TracedNode(BaseModel):
    """A node that packets waited in."""

    delay: Smoothed | None = Field(default=None, description="nanoseconds in the node")
    queue: Smoothed | None = Field(default=None, description="packets in its queue")


class TracedPath(BaseModel):
    """Of what `/v1/ioam/paths` of another controller answers, what schedules need; the rest may be there."""

    id: str = Field(description="name of the path", examples=["1:a-b"])
    count: int = Field(description="traces; without new ones nothing is new", examples=[1200])
    delay: Smoothed | None = Field(default=None, description="nanoseconds from the first node to the last one")
    inside: Smoothed | None = Field(default=None, description="nanoseconds inside the nodes altogether")
    nodes: list[TracedNode] = Field(default=[], description="nodes of the path")

    def figures(self, now: float) -> PathMetrics:
        """Return it as the collector keeps it."""
        nodes = [NodeMetrics(0, _summary(node.delay), _summary(node.queue)) for node in self.nodes]
        delay, inside = _summary(self.delay), _summary(self.inside)
        return PathMetrics(PathId.parse(self.id), now, now, self.count, delay, inside=inside, nodes=nodes)


class PolicyRequest(BaseModel):
    """How packets are to be shared out."""

    policy: SchedulingPolicy = Field(
        description="how packets are to be shared out from now on", examples=["fastest-first"]
    )


def serve_schedules(app: FastAPI, running: Running) -> None:
    """Serve schedules."""

    @app.get("/v1/schedules", openapi_extra=READ)
    async def schedules() -> list[ScheduleAnswer]:
        """All schedules of the configuration."""
        return [_answer(running, rule) for rule in running.edge.schedules.rules.values()]

    @app.get("/v1/schedules/{name}", openapi_extra=READ, responses=NO_SCHEDULE)
    async def schedule(
        name: Annotated[str, Path(description="name of the schedule in the configuration")],
    ) -> ScheduleAnswer:
        """A schedule."""
        return _answer(running, _find(running, name))

    @app.post("/v1/schedules/estimates", openapi_extra=OPERATE, responses=NOT_READ)
    async def bring_estimates(paths: list[TracedPath]) -> list[ScheduleAnswer]:
        """Take what another controller's `/v1/ioam/paths` answers, for schedules whose source is ioam."""
        try:
            brought = tuple(path.figures(running.now) for path in paths)
        except ValueError as wrong:
            raise ApiError(422, "No figures of paths", f"{wrong}; send what /v1/ioam/paths answers") from None
        done = await running.command(ImportPathEstimates(brought))
        await done.wait()
        return [_answer(running, rule) for rule in running.edge.schedules.rules.values()]

    @app.post("/v1/schedules/{name}/policy", openapi_extra=OPERATE, responses=NOT_SET)
    async def set_policy(
        name: Annotated[str, Path(description="name of the schedule in the configuration")], wish: PolicyRequest
    ) -> ScheduleAnswer:
        """Have the sessions of a schedule share their packets out another way, from the next packet on."""
        rule = _find(running, name)
        if wish.policy is SchedulingPolicy.REDUNDANT and rule.config.source is not Source.FEEDBACK:
            mend = "feedback, here and at the peer, numbers packets"
            raise ApiError(409, "Not set", f"the source of {name!r} is {rule.config.source.value}; {mend}")
        done = await running.command(SetPolicy(name, wish.policy))
        await done.wait()
        return _answer(running, rule)


def _summary(value: Smoothed | None) -> Summary:
    return Summary() if value is None else value.summary()


def _find(running: Running, name: str) -> ScheduleRule:
    rule = running.edge.schedules.rules.get(name)
    if rule is None:
        known = ", ".join(running.edge.schedules.rules) or "none; [[schedule]] of the configuration makes one"
        raise ApiError(404, "No such schedule", f"{name!r}; the schedules are: {known}")
    return rule


def _answer(running: Running, rule: ScheduleRule) -> ScheduleAnswer:
    config = rule.config
    return ScheduleAnswer(
        name=config.name,
        policy=rule.policy,
        configured=config.policy,
        source=config.source,
        close=config.close,
        tolerance=config.tolerance,
        probe_interval=config.probe_interval,
        hold=config.hold,
        reinjection=config.reinjection,
        framing=config.framing,
        copies=config.copies,
        paths=[_configured(rule, index, running.edge.figures, running.now) for index in range(len(config.paths))],
        groups=_groups(running, rule),
    )


def _configured(rule: ScheduleRule, index: int, figures: PathEstimates, now: float) -> ConfiguredPath:
    path, (delay, bandwidth) = rule.config.paths[index], rule.figures[index]
    told = figures.told(rule.config.name, index)
    return ConfiguredPath(
        provider=path.provider,
        remote=None if path.remote is None else str(path.remote),
        delay=delay,
        bandwidth=bandwidth,
        trace=None if path.trace is None else str(path.trace),
        probe=None if path.probe is None else str(path.probe.segment),
        measured=(delay, bandwidth) != (path.delay, path.bandwidth),
        told_by=EstimateOrigin.CONFIGURATION if told is None else told.origin,
        told_seconds_ago=None if told is None else now - told.at,
        missing=figures.missing(path) if told is None and path.trace is not None else "",
    )


def _groups(running: Running, rule: ScheduleRule) -> list[GroupAnswer]:
    schedules, now = running.edge.schedules, running.now
    name = rule.config.name
    group, left, registers = schedules.group(name), schedules.left(name), schedules.registers(name)
    if registers is None or (group is None and not left):
        return []
    known = dict(enumerate(group.known)) if group else {}
    sessions = sorted(group.sessions) if group else []
    waits_at_edge = group is not None and group.waits_at_edge
    return [
        GroupAnswer(
            number=registers.schedule,
            generation=registers.generation,
            sessions=sessions,
            replicated=[each for each in sessions if group and group.copies_of(each) > 1],
            numbered=[each for each in sessions if group and group.agreed(each).numbered],
            in_order=[each for each in sessions if group and group.agreed(each).in_order],
            paths=[
                _path(
                    rule.config.paths[way].name,
                    known.get(way, PathReport()),
                    left.get(way),
                    now,
                    waits_at_edge=waits_at_edge,
                )
                for way in sorted({*(group.ways if group else ()), *left})
            ],
        )
    ]


def _path(name: str, known: PathReport, left: LeftPath | None, now: float, *, waits_at_edge: bool) -> PathOfGroup:
    since = left.since if left else known.since
    return PathOfGroup(
        name=name,
        state="left" if left else "closed" if known.closed else "open",
        why=f"no session takes it: {left.why}" if left else known.why,
        for_seconds=None if since is None else now - since,
        late=known.late,
        delay=known.delay,
        bandwidth=known.bandwidth,
        queue=known.queue,
        window=known.window(waits_at_edge=waits_at_edge),
        packets=known.packets,
        reported_seconds_ago=None if known.reported is None else now - known.reported,
        lost=known.lost,
        marked=known.marked,
    )
