"""What ILNP declares to the edge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from wayname.session.protocol import Command, Protocol, SessionManager

if TYPE_CHECKING:
    from prometheus_client.core import Metric

    from wayname.config.sections import ProtocolSection
    from wayname.ilnp.config import Ilnp
    from wayname.session.context import SessionContext


def _section() -> ProtocolSection[Ilnp]:
    from wayname.ilnp.config import SECTION

    return SECTION


def _managers(context: SessionContext) -> Sequence[SessionManager]:
    from wayname.ilnp.edge.border import SiteBorder
    from wayname.ilnp.edge.manager import IlnpSessions

    rules = _section().of(context.config)
    assert rules is not None
    return [IlnpSessions(rules, context, SiteBorder(rules, context))]


def _metrics(manager: SessionManager) -> Iterable[Metric]:
    from wayname.ilnp.metrics import metrics_of

    return metrics_of(manager)


ILNP = Protocol(
    name="ilnp",
    section=_section,
    managers=_managers,
    metrics=_metrics,
    routes="wayname.api.ilnp",
    commands=(Command("ilnp", "wayname.cli.ilnp", "ILNP: show sessions, admission, names; drain a provider."),),
)
