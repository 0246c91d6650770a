"""What schedules and path policies may say and hardly mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import IPv6Network
from itertools import combinations

from wayname.config.model import Config
from wayname.config.path_policies import PathPolicy
from wayname.config.schedules import NUMBERING, Schedule, SchedulingPolicy, Source

# One way, in seconds: a geostationary satellite takes a quarter of one.
LONGEST_DELAY = 2.0


def schedule_warnings(config: Config) -> Iterator[str]:
    """Yield lines for people."""
    yield from _hidden_schedules(config.schedules)
    for schedule in config.schedules:
        yield from _long_delays(schedule)
        yield from _idle_keys(schedule, config.switch.buffers)
    yield from _hidden_policies(config.path_policies)
    yield from _idle_copies(config)


def _hidden_schedules(schedules: Sequence[Schedule]) -> Iterator[str]:
    """Yield those that no session goes by, since one before them fits all of theirs."""
    told = set()
    for first, later in combinations(schedules, 2):
        if later.name not in told and _all_in(later.local, first.local) and _all_in(later.remote, first.remote):
            told.add(later.name)
            yield (
                f"[[schedule]] {later.name} never applies: {first.name} stands before it and fits all of its sessions;"
                " write the one with the narrower local and remote first, or leave one out"
            )


def _all_in(narrow: Sequence[IPv6Network], wide: Sequence[IPv6Network]) -> bool:
    """Whether all that these prefixes have is in the others; none is any address."""
    return not wide or (bool(narrow) and all(any(each.subnet_of(other) for other in wide) for each in narrow))


def _long_delays(schedule: Schedule) -> Iterator[str]:
    for path in schedule.paths:
        if path.delay > LONGEST_DELAY:
            yield (
                f"[[schedule]] {schedule.name}: the delay of path {path.name} is {path.delay:g} seconds, one way;"
                f' write "{path.delay:g}ms" if it is in milliseconds'
            )


def _idle_keys(schedule: Schedule, buffers: bool) -> Iterator[str]:
    """Yield what is written and has no effect."""
    written = schedule.model_fields_set
    if "reinjection" in written and schedule.reinjection:
        if schedule.source is not Source.FEEDBACK:
            yield (
                f'[[schedule]] {schedule.name}: reinjection has no effect with source = "{schedule.source.value}";'
                ' write source = "feedback", here and at the peer, or leave reinjection out'
            )
        elif not buffers:
            yield (
                f"[[schedule]] {schedule.name}: reinjection has no effect with what [switch] names, which keeps no"
                " packets; leave target, program and p4info out of [switch], or reinjection out of [[schedule]]"
            )
    if "copies" in written and schedule.policy is not SchedulingPolicy.REDUNDANT:
        yield (
            f'[[schedule]] {schedule.name}: copies has no effect with policy = "{schedule.policy.value}";'
            ' write policy = "redundant", or leave copies out'
        )


def _hidden_policies(policies: Sequence[PathPolicy]) -> Iterator[str]:
    """Yield those that no packet meets, since one before them is for the same flows."""
    told = set()
    for first, later in combinations(policies, 2):
        if later.name not in told and _match(first) == _match(later):
            told.add(later.name)
            yield (
                f"[[path_policy]] {later.name} never applies: {first.name} stands before it and is for the same flows;"
                " give one of them another dscp, prefix, protocol or port, or leave one out"
            )


def _match(policy: PathPolicy) -> tuple[object, ...]:
    ports = policy.local_ports, policy.remote_ports
    return policy.dscp, policy.local, policy.remote, policy.protocol, *ports


def _idle_copies(config: Config) -> Iterator[str]:
    if any(each.source is Source.FEEDBACK and each.policy in NUMBERING for each in config.schedules):
        return
    for policy in config.path_policies:
        if policy.copies is not None:
            yield (
                f'[[path_policy]] {policy.name}: copies has no effect where no [[schedule]] has source = "feedback"'
                ' and policy = "fastest-first"; write such a schedule, or leave copies out'
            )
