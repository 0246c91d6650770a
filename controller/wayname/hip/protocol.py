"""What HIP declares to the edge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from wayname.p4_constants import Punt
from wayname.session.protocol import Command, Protocol, SessionManager

if TYPE_CHECKING:
    from wayname.config.model import Config
    from wayname.config.sections import ProtocolSection
    from wayname.hip.config import Hip
    from wayname.hip.edge.keys import Identities
    from wayname.session.context import SessionContext


def _section() -> ProtocolSection[Hip]:
    from wayname.hip.config import SECTION

    return SECTION


def _managers(context: SessionContext) -> Sequence[SessionManager]:
    from wayname.hip.edge.native_sessions import EspSessions
    from wayname.hip.edge.sessions import HipSessions

    hip = _section().of(context.config)
    assert hip is not None
    identities = cast("Identities", context.keys.get("hip", {}))
    return [HipSessions(hip, identities, context), EspSessions(hip, context)]


def _load_keys(config: Config) -> Identities:
    from wayname.hip.edge.keys import host_identities

    hip = _section().of(config)
    assert hip is not None
    return host_identities(hip)


HIP = Protocol(
    name="hip",
    section=_section,
    managers=_managers,
    load_keys=_load_keys,
    passed_on=frozenset((Punt.HIP, Punt.HIP_VERIFY)),
    routes="wayname.api.hip",
    commands=(Command("hip", "wayname.cli.hip", "HIP: show associations and hosts; connect, rekey, close."),),
)
