"""What Shim6 tells of path reports, in an experimental option of its messages, and what two ends agree on by that."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from wayname.config.schedules import Schedule
from wayname.session.path_reports import Agreement, agreed, path_reports_of
from wayname.shim6.context import KnownPeer, LocalHost, option_of
from wayname.wire.path_reports import PathReports


def tell_path_reports(host: LocalHost, schedules: Iterable[Schedule], *, buffers: bool) -> LocalHost:
    """Return a host that also tells its peers of path reports, if a schedule that its sessions may have wants them."""
    told = path_reports_of(PathReports, host.ulid, schedules, buffers=buffers)
    return host if told is None else replace(host, options=(*host.options, told))


def agreed_with(known: KnownPeer, host: LocalHost | None) -> Agreement:
    """Return what a host here, if it is still there, and its peer agreed on."""
    return agreed(option_of(host.options, PathReports) if host else None, known.path_reports)
