"""What sessions want on the switch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from ipaddress import IPv6Address
from itertools import product

import finsy as fy

from wayname.config.model import Config
from wayname.config.path_policies import MOST_PATH_POLICIES, PathPolicy
from wayname.config.session_rules import ProxyMode, SessionRules
from wayname.edge.desired_state import DesiredState
from wayname.edge.providers import Providers
from wayname.p4_constants import SessionMode
from wayname.pipeline import sessions as entries
from wayname.pipeline.esp import path_beet, spi
from wayname.pipeline.path_policies import path_policy, preferred_path, replicated_flow
from wayname.pipeline.punts import association
from wayname.session.entries_by_session import EntriesBySession
from wayname.session.keys import Pair
from wayname.session.path_reports import Agreement
from wayname.session.scheduling.scheduled import Scheduled
from wayname.session.scheduling.schedules import Schedules
from wayname.session.session import Esp, Fork, Session
from wayname.wire.ipv6 import UDP

TCP = 6
FIRST_POLICY = 1  # 0 is none


def want_source_policy_routes(config: Config, providers: Providers, desired: DesiredState) -> None:
    """Want what sends the packets of any session by its provider, and the flows of policies by theirs."""
    for number, policy in enumerate(config.path_policies):
        desired.put(path_policy(number + FIRST_POLICY, MOST_PATH_POLICIES - number, policy))
    for provider, table in providers.tables.items():
        desired.put(entries.source_policy_route(provider.prefix, table))


def want_prefixes(rules_of: Iterable[SessionRules], desired: DesiredState) -> None:
    """Want the packets of hosts looked at whose sessions have these rules."""
    for rules in rules_of:
        for prefix in rules.prefixes:
            if rules.mode is ProxyMode.PROXY:
                wanted = entries.endpoint_policy(prefix, rules.bytes, rules.seconds)
            else:
                wanted = entries.spoken_by_hosts(prefix, rules.mode is ProxyMode.VERIFY)
            for each in wanted:
                desired.put(each)


class SessionTables:
    """Keeps the entries of each session."""

    def __init__(
        self,
        route_table: Callable[[IPv6Address], int],
        schedules: Schedules,
        policies: Iterable[PathPolicy],
        desired: DesiredState,
    ) -> None:
        self._route_table = route_table
        numbered = list(enumerate(policies, FIRST_POLICY))
        self._policies = {policy.name: number for number, policy in numbered}
        self._copies = {policy.name: policy.copies for _, policy in numbered if policy.copies is not None}
        self._schedules = schedules
        self._entries_by_session = EntriesBySession(desired)

    def want(
        self,
        session: Session,
        backups: Mapping[int, int],
        usable: Mapping[int, Pair],
        failed: Mapping[Pair, str],
        preferred: Mapping[str, int],
    ) -> None:
        """Want a session as it is now.

        Its backups from path to path, the paths that it may use all at once, why others failed, and those of policies'
        flows.
        """
        agreed = Agreement(session.numbered, session.in_order, session.takes_copies)
        known = Scheduled(session.number, *session.name[:2], usable, agreed, failed)
        is_scheduled = self._schedules.follow(known)
        ways = (entries.backup(session.number, path, to) for path, to in backups.items())
        own = [preferred_path(session.number, self._policies[name], path) for name, path in preferred.items()]
        for name, copies in self.replicated(session, preferred).items():
            own.append(replicated_flow(session.number, self._policies[name], copies))
        # Of a peer that schedules too, each packet may come by another path: there is nothing to follow.
        mode = SessionMode.SCHEDULE if is_scheduled else SessionMode.FOLLOW
        # Also where nothing is preferred now: the peer's flows by other paths are no reason to follow it.
        mode |= SessionMode.PREFER if self._policies else 0
        mode |= SessionMode.NUMBER if session.numbered else 0
        mode |= SessionMode.ORDER if session.in_order else 0
        self._entries_by_session.replace(session.number, [*self._entries(session, mode), *ways, *own])

    def is_scheduled(self, session: Session) -> bool:
        """Tell whether packets of a session go by several paths at once."""
        return self._schedules.group_of(session.number) is not None

    def replicated(self, session: Session, preferred: Mapping[str, int]) -> dict[str, int]:
        """Return in how many copies packets of flows go, by policy, but for those that prefer a path."""
        if not session.takes_copies or session.fork is not None or not self.is_scheduled(session):
            return {}
        return {name: copies for name, copies in self._copies.items() if name not in preferred}

    def forget(self, session: Session) -> None:
        """Want nothing of a session any more."""
        self._schedules.forget(session.number)
        self._entries_by_session.replace(session.number, [])

    def _entries(self, session: Session, mode: SessionMode) -> Iterable[fy.P4TableEntry]:
        number, name, rules = session.number, session.name, session.rules
        mode |= SessionMode.HOLD if rules.hold else 0
        mode |= SessionMode.REPORT if session.exploring else 0
        if session.fork is not None:
            if session.fork.of and not session.fork.ending:
                yield from _fork(session, session.fork)
        else:
            yield self._identities(session, mode)
        if session.hits is not None:
            yield association(*session.hits, number)
        if session.esp is not None:
            yield from self._esp(session, session.esp)
            return
        yield entries.context_tag(session.tag, number, name.local, name.peer)
        for path, pair in session.paths.items():
            table = self._route_table(pair.local)
            if session.is_plain(pair):
                yield entries.path_plain(number, path, table)
            else:
                yield entries.path_shim6(number, path, pair.local, pair.peer, session.peer_tag, table)
            yield entries.locator_pair(number, pair.peer, pair.local, path)

    def _esp(self, session: Session, esp: Esp) -> Iterable[fy.P4TableEntry]:
        """What docs/hip-tables.md says: SPIs by who receives them, paths that exchange locators."""
        pairs = session.paths.values()
        for locators, spis in (
            ({each.local for each in pairs}, esp.spis),
            ({each.peer for each in pairs}, esp.peer_spis),
        ):
            for locator, number in product(sorted(locators), spis):
                yield spi(locator, number, session.name.local, session.name.peer)
        for path, pair in session.paths.items():
            table, newest = self._route_table(pair.local), esp.peer_spis[0]
            yield path_beet(session.number, path, pair.local, pair.peer, table, newest)
            yield entries.locator_pair(session.number, pair.peer, pair.local, path)

    def _identities(self, session: Session, mode: SessionMode) -> fy.P4TableEntry:
        return entries.identities(
            session.name.local,
            session.name.peer,
            session.number,
            session.path,
            session.generation,
            session.send_timeout,
            session.keepalive,
            mode,
            session.rules.idle,
        )


def _fork(session: Session, fork: Fork) -> Iterable[fy.P4TableEntry]:
    for protocol in (TCP, UDP):
        yield entries.fork(
            fork.of, protocol, fork.local_port, fork.peer_port, session.number, session.path, session.generation
        )
