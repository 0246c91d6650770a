"""What HIP declares to the edge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from wayname.config.model import Config
from wayname.hip.edge.keys import Identities, host_identities
from wayname.hip.edge.native_sessions import EspSessions
from wayname.hip.edge.sessions import HipSessions
from wayname.p4_constants import Punt
from wayname.session.context import SessionContext
from wayname.session.protocol import Protocol, SessionManager


def _managers(context: SessionContext) -> Sequence[SessionManager]:
    assert context.config.hip is not None
    identities = cast(Identities, context.keys.get("hip", {}))
    return [HipSessions(context.config.hip, identities, context), EspSessions(context.config.hip, context)]


def _load_keys(config: Config) -> Identities:
    assert config.hip is not None
    return host_identities(config.hip)


HIP = Protocol(
    name="hip",
    is_configured=lambda config: config.hip is not None,
    managers=_managers,
    load_keys=_load_keys,
    passed_on=frozenset((Punt.HIP, Punt.HIP_VERIFY)),
)
