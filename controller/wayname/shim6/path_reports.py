"""Whether the packets of a session are numbered by path, as both sides tell each other by an experimental option.

Each side that has a schedule that goes by feedback tells which version of the path option it counts and reports
(docs/scheduling.md). Packets are numbered where both tell the same one; who does not know the option skips it.
Who has a switch with packet buffers tells that too: where both do, packets have an order, and what a dead path held
is sent again. Each tells that its switch drops what comes twice: so packets may go to it in several copies.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from wayname.config.schedules import Schedule, Source
from wayname.shim6.context import KnownPeer, LocalHost
from wayname.wire.shim6.options import PathReports

VERSION = 1


def tell_path_reports(host: LocalHost, schedules: Iterable[Schedule], *, buffers: bool) -> LocalHost:
    """Return a host that also tells its peers of path reports, if a schedule that its sessions may have wants them."""
    fitting = [each for each in schedules if each.source is Source.FEEDBACK and each.fits_local(host.ulid)]
    if not fitting:
        return host
    puts_in_order = buffers and any(each.reinjection for each in fitting)
    return replace(host, options=(*host.options, PathReports(VERSION, puts_in_order, eliminates=True)))


def numbers_packets(host: LocalHost, known: KnownPeer) -> bool:
    """Whether both sides tell that they count and report."""
    told, heard = _told(host), known.path_reports
    return told is not None and heard is not None and told.version == heard.version


def orders_packets(host: LocalHost, known: KnownPeer) -> bool:
    """Whether both sides put packets in order, so that what a dead path held can be sent again."""
    told, heard = _told(host), known.path_reports
    return numbers_packets(host, known) and bool(told and told.puts_in_order and heard and heard.puts_in_order)


def takes_copies(host: LocalHost, known: KnownPeer) -> bool:
    """Whether packets may go to the peer in several copies: its switch drops all but the first."""
    heard = known.path_reports
    return numbers_packets(host, known) and heard is not None and heard.eliminates


def _told(host: LocalHost) -> PathReports | None:
    return next((each for each in host.options if isinstance(each, PathReports)), None)
