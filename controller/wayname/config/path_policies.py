"""What a configuration says of flows that take a path of their own within their hosts' session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from wayname.config.checks import Name
from wayname.config.flows import FlowTable
from wayname.config.schedules import LEAST_PATHS, MOST_PATHS, Source
from wayname.config.tables import Mistake, Site, between, twice

MOST_PATH_POLICIES = 16  # each session may have an entry for each
MOST_DSCP = 63


class PathPolicy(FlowTable):
    """Flows of sessions, and the provider that they are to leave by; what is None does not matter.

    Without a provider they go as their session does, unless a command says otherwise of one session; or in several
    copies, by a path of their session's schedule each.
    """

    name: Name
    provider: str | None = None
    dscp: Annotated[int, between(0, MOST_DSCP)] | None = None
    copies: Annotated[int, between(LEAST_PATHS, MOST_PATHS)] | None = None


def check_path_policies(policies: tuple[PathPolicy, ...], site: Site) -> Iterator[Mistake]:
    """Yield what is wrong with all `[[path_policy]]`; of those that match a packet the first counts."""
    providers = [written.name for written in site.config.written_providers]
    for index, policy in enumerate(policies):
        if policy.provider is not None and policy.provider not in providers:
            mend = f"write one of {', '.join(map(repr, providers)) or 'none'}"
            yield Mistake((index, "provider"), f"is {policy.provider!r}", mend)
        if policy.copies is not None and policy.provider is not None:
            yield Mistake((index, "copies"), "go by several paths, and provider names one", "write one of both")
        if policy.copies is not None and not any(each.source is Source.FEEDBACK for each in site.config.schedules):
            wrong = "go by paths of a schedule whose packets have numbers, and there is none"
            yield Mistake((index, "copies"), wrong, 'write a [[schedule]] with source = "feedback"')
    yield from twice((policy.name for policy in policies), "name", "give every policy a name of its own")
    if len(policies) > MOST_PATH_POLICIES:
        yield Mistake((), f"there are {len(policies)}", f"write {MOST_PATH_POLICIES} at most")
