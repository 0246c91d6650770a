"""What the protocol declares to the edge."""

from __future__ import annotations

from fourth_protocol.config import SECTION
from fourth_protocol.manager import PROTOCOL_BIT, REASON, KeyedSessions
from fourth_protocol.messages import PORT

from wayname.session.context import SessionContext
from wayname.session.protocol import Command, Protocol, PuntedMessage


def _managers(context: SessionContext) -> list[KeyedSessions]:
    keyed = SECTION.of(context.config)
    assert keyed is not None
    return [KeyedSessions(keyed, context)]


KEYED = Protocol(
    name="keyed",
    section=lambda: SECTION,
    managers=_managers,
    messages=(PuntedMessage(REASON, PROTOCOL_BIT, udp_port=PORT),),
    routes="fourth_protocol.routes",
    commands=(Command("keyed", "fourth_protocol.command", "Sessions by a key."),),
)
