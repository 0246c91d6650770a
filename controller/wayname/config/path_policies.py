"""What a configuration says of flows that take a path of their own within their hosts' session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from wayname.config.checks import Name
from wayname.config.flows import FlowTable
from wayname.config.tables import Mistake, Site, between, twice

MOST_PATH_POLICIES = 16  # each session may have an entry for each
MOST_DSCP = 63


class PathPolicy(FlowTable):
    """Flows of sessions, and the provider that they are to leave by; what is None does not matter.

    Without a provider they go as their session does, unless a command says otherwise of one session.
    """

    name: Name
    provider: str | None = None
    dscp: Annotated[int, between(0, MOST_DSCP)] | None = None


def check_path_policies(policies: tuple[PathPolicy, ...], site: Site) -> Iterator[Mistake]:
    """Yield what is wrong with all `[[path_policy]]`; of those that match a packet the first counts."""
    providers = [written.name for written in site.config.written_providers]
    for index, policy in enumerate(policies):
        if policy.provider is not None and policy.provider not in providers:
            mend = f"write one of {', '.join(map(repr, providers)) or 'none'}"
            yield Mistake((index, "provider"), f"is {policy.provider!r}", mend)
    yield from twice((policy.name for policy in policies), "name", "give every policy a name of its own")
    if len(policies) > MOST_PATH_POLICIES:
        yield Mistake((), f"there are {len(policies)}", f"write {MOST_PATH_POLICIES} at most")
