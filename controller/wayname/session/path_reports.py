"""Whether the packets of a session are numbered by path, as both edges tell each other by their session protocol.

Each edge that has a schedule that goes by feedback tells which version of the path option it counts and reports
(docs/scheduling.md). Packets are numbered where both tell the same one; who does not know it skips what is told.
Who has a switch with packet buffers tells that too: where both do, packets have an order, and what a dead path held
is sent again. Each tells that its switch drops what comes twice: so packets may go to it in several copies.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv6Address
from typing import TypeVar

from wayname.config.schedules import Schedule, Source
from wayname.session.session import Session
from wayname.wire.path_reports import PathReports

VERSION = 1

# As the session protocol tells it.
Told = TypeVar("Told", bound=PathReports)


@dataclass(frozen=True, slots=True)
class Agreement:
    """What two edges do with the packets of a session."""

    numbered: bool = False
    in_order: bool = False
    takes_copies: bool = False

    def apply(self, session: Session) -> None:
        """Have a session go by it."""
        session.numbered, session.in_order, session.takes_copies = self.numbered, self.in_order, self.takes_copies


def path_reports_of(
    kind: type[Told], identity: IPv6Address, schedules: Iterable[Schedule], *, buffers: bool
) -> Told | None:
    """Return what to tell the peers of a host, if a schedule that its sessions may have wants reports."""
    fitting = [each for each in schedules if each.source is Source.FEEDBACK and each.fits_local(identity)]
    if not fitting:
        return None
    return kind(VERSION, buffers and any(each.reinjection for each in fitting), eliminates=True)


def agreed(told: PathReports | None, heard: PathReports | None) -> Agreement:
    """Return what an edge that told this agrees on with a peer that told that."""
    if told is None or heard is None or told.version != heard.version:
        return Agreement()
    return Agreement(True, told.puts_in_order and heard.puts_in_order, heard.eliminates)
