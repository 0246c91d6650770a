"""What sessions between identifiers want on the switch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from ipaddress import IPv6Address

import finsy as fy

from wayname.edge.desired_state import DesiredState
from wayname.ilnp.checksums import addresses_delta, identifiers_delta
from wayname.ilnp.config import Ilnp, IlnpMode, NonceUse, TcpAdmission
from wayname.ilnp.edge.session import IlnpSession
from wayname.ilnp.vectors import Vector
from wayname.p4_constants import HostProtocols, SessionMode
from wayname.pipeline import sessions as entries
from wayname.session.entries_by_session import EntriesBySession
from wayname.session.keys import Pair
from wayname.session.scheduling.scheduled import Scheduled
from wayname.session.scheduling.schedules import Schedules


def want_sites(config: Ilnp, desired: DesiredState) -> None:
    """Want what follows from the configuration alone."""
    for site in config.sites:
        for prefix in site.prefixes:
            if site.mode is IlnpMode.PROXY:
                protocols = HostProtocols.ILNP | (HostProtocols.NAIVE if config.naive else 0)
                protocols |= HostProtocols.OPEN if site.tcp is TcpAdmission.HANDSHAKE else 0
                wanted = entries.endpoint_policy(prefix, site.bytes, site.seconds, protocols)
            elif site.mode is IlnpMode.BORDER:
                continue
            else:
                wanted = entries.spoken_by_hosts(prefix, verified=False)
            for each in wanted:
                desired.put(each)


class IlnpTables:
    """Keeps the entries of each session."""

    def __init__(
        self,
        route_table: Callable[[IPv6Address], int],
        is_usable: Callable[[IPv6Address], bool],
        schedules: Schedules,
        rules: Ilnp,
        desired: DesiredState,
    ) -> None:
        self._route_table = route_table
        self._is_usable = is_usable
        self._schedules = schedules
        self._rules = rules
        self._entries_by_session = EntriesBySession(desired)

    def want(self, session: IlnpSession) -> None:
        """Want a session as it is now; with a schedule it may go by all paths that its ends have told of."""
        pairs = {path: _pair(session, path) for path in session.paths}
        stands = session.stands
        usable = {path: pair for path, pair in pairs.items() if self._is_usable(pair.local)}
        is_scheduled = self._schedules.follow(
            Scheduled(session.number, stands.local_identity, stands.peer_identity, usable)
        )
        self._entries_by_session.replace(session.number, list(self._entries(session, pairs, is_scheduled)))

    def forget(self, session: IlnpSession) -> None:
        """Want nothing of a session any more."""
        self._schedules.forget(session.number)
        self._entries_by_session.replace(session.number, [])

    def _entries(
        self, session: IlnpSession, pairs: Mapping[int, Pair], is_scheduled: bool
    ) -> Iterable[fy.P4TableEntry]:
        number, stands = session.number, session.stands
        local, peer = stands.local_identity, stands.peer_identity
        # ILNP has no word for a path that is not answered: the switch watches nothing.
        yield entries.identities(
            local,
            peer,
            number,
            session.path,
            session.generation,
            send_timeout=0,
            keepalive=0,
            mode=SessionMode.ILNP | (SessionMode.SCHEDULE if is_scheduled else 0),
            idle=self._rules.idle,
        )
        heard = addresses_delta(peer, local)
        yield entries.ilnp_nonce(local, peer, stands.nonce_from_peer, number, heard)
        if self._rules.nonce_use is NonceUse.AT_FIRST:
            # The peer may leave its nonce off as well: then its locators say whose packet it is (RFC 6744, section 4).
            yield entries.ilnp_nonce(local, peer, b"", number, heard)
        nonce = stands.nonce_to_peer if stands.bears_nonce else b""
        sent = identifiers_delta(local, peer)
        for path, (ours, theirs) in pairs.items() if is_scheduled else ((session.path, pairs[session.path]),):
            yield entries.path_ilnp(number, path, ours, theirs, nonce, sent, self._route_table(ours))
        for path, (ours, theirs) in pairs.items():
            yield entries.locator_pair(number, theirs, ours, path)


def _pair(session: IlnpSession, path: int) -> Pair:
    ends, names = session.paths[path], session.names
    return Pair(Vector(ends.ours, names.local).address, Vector(ends.theirs, names.peer).address)
