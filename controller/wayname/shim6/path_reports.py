"""Whether the packets of a session are numbered by path, as both sides tell each other by an experimental option.

Each side that has a schedule that goes by feedback tells which version of the path option it counts and reports
(docs/scheduling.md). Packets are numbered where both tell the same one; who does not know the option skips it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from wayname.config.schedules import Schedule, Source
from wayname.shim6.context import KnownPeer, LocalHost
from wayname.wire.shim6.options import PathReports

VERSION = 1


def tell_path_reports(host: LocalHost, schedules: Iterable[Schedule]) -> LocalHost:
    """Return a host that also tells its peers of path reports, if a schedule that its sessions may have wants them."""
    if not any(each.source is Source.FEEDBACK and each.fits_local(host.ulid) for each in schedules):
        return host
    return replace(host, options=(*host.options, PathReports(VERSION)))


def numbers_packets(host: LocalHost, known: KnownPeer) -> bool:
    """Whether both sides tell that they count and report."""
    return known.path_reports == PathReports(VERSION) and PathReports(VERSION) in host.options
