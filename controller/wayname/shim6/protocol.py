"""What Shim6 declares to the edge."""

from __future__ import annotations

from wayname.session.protocol import Protocol
from wayname.shim6.edge.sessions import Shim6Sessions
from wayname.shim6.metrics import metrics_of

SHIM6 = Protocol(
    name="shim6",
    is_configured=lambda config: bool(config.shim6),
    managers=lambda context: [Shim6Sessions(context)],
    metrics=metrics_of,
)
