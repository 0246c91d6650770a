"""What the protocol declares to the edge."""

from __future__ import annotations

from fourth_protocol.manager import PROTOCOL_BIT, REASON, KeyedSessions, Rules
from fourth_protocol.messages import PORT

from wayname.session.protocol import Protocol, PuntedMessage


def keyed(rules: Rules) -> Protocol:
    """Return the protocol as an edge with these rules speaks it."""
    return Protocol(
        name="keyed",
        is_configured=lambda config: True,
        managers=lambda context: [KeyedSessions(rules, context)],
        messages=(PuntedMessage(REASON, PROTOCOL_BIT, udp_port=PORT),),
    )
