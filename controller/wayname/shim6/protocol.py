"""What Shim6 declares to the edge; but for forks, its sessions are in the routes and commands of all sessions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from wayname.session.protocol import Protocol, SessionManager

if TYPE_CHECKING:
    from prometheus_client.core import Metric

    from wayname.config.sections import ProtocolSection
    from wayname.session.context import SessionContext
    from wayname.shim6.config import Shim6


def _section() -> ProtocolSection[tuple[Shim6, ...]]:
    from wayname.shim6.config import SECTION

    return SECTION


def _managers(context: SessionContext) -> Sequence[SessionManager]:
    from wayname.shim6.edge.sessions import Shim6Sessions

    return [Shim6Sessions(context)]


def _metrics(manager: SessionManager) -> Iterable[Metric]:
    from wayname.shim6.metrics import metrics_of

    return metrics_of(manager)


SHIM6 = Protocol(name="shim6", section=_section, managers=_managers, metrics=_metrics, routes="wayname.api.shim6")
