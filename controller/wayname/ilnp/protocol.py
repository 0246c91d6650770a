"""What ILNP declares to the edge."""

from __future__ import annotations

from collections.abc import Sequence

from wayname.ilnp.edge.border import SiteBorder
from wayname.ilnp.edge.manager import IlnpSessions
from wayname.ilnp.metrics import metrics_of
from wayname.session.context import SessionContext
from wayname.session.protocol import Protocol, SessionManager


def _managers(context: SessionContext) -> Sequence[SessionManager]:
    rules = context.config.ilnp
    assert rules is not None
    return [IlnpSessions(rules, context, SiteBorder(rules, context))]


ILNP = Protocol(
    name="ilnp", is_configured=lambda config: config.ilnp is not None, managers=_managers, metrics=metrics_of
)
