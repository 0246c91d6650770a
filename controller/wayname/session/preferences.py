"""Which path flows of a policy take in a session, beside the one that the session is on."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv6Address

from wayname.config.model import Provider
from wayname.config.path_policies import PathPolicy
from wayname.session.keys import Pair
from wayname.session.session import Session


class PathPreferences:
    """Chooses among the paths of a session that work, for each policy: what a command said, or by its provider."""

    def __init__(self, policies: tuple[PathPolicy, ...], provider_of: Callable[[IPv6Address], Provider | None]) -> None:
        self.policies = policies
        self._provider_of = provider_of

    def paths(self, session: Session, is_usable: Callable[[int], bool]) -> dict[str, int]:
        """Return the path of each policy that has one."""
        if session.fork is not None or not self.policies:
            return {}
        found = {policy.name: self._path(session, policy, is_usable) for policy in self.policies}
        return {name: path for name, path in found.items() if path is not None}

    def pairs(self, session: Session) -> frozenset[Pair]:
        """Return the pairs that flows are to go by if they work."""
        paths = self.paths(session, lambda path: True)
        return frozenset(session.paths[path] for path in paths.values())

    def refusal(self, session: Session, policy: str) -> str | None:
        """Return why flows of a policy may not have a path of their own in a session."""
        if policy not in {each.name for each in self.policies}:
            known = ", ".join(each.name for each in self.policies) or "none; write [[path_policy]] first"
            return f"there is no path policy {policy!r}; known here: {known}"
        if session.fork is not None:
            return f"session {session.number} is a fork, which goes by one path; move it"
        return None

    def _path(self, session: Session, policy: PathPolicy, is_usable: Callable[[int], bool]) -> int | None:
        commanded = session.preferences.get(policy.name)
        if commanded is not None:
            wanted = [commanded]
        elif policy.provider is not None:
            wanted = [pair for pair in session.ordered if self._leaves_by(pair.local, policy.provider)]
        else:
            return None
        numbers = [number for pair in wanted if (number := session.path_of(pair)) is not None]
        return next((number for number in numbers if is_usable(number)), None)

    def _leaves_by(self, address: IPv6Address, name: str) -> bool:
        provider = self._provider_of(address)
        return provider is not None and provider.name == name
