"""Schedules, for Prometheus."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily, Metric

from wayname.session.scheduling.schedules import Schedules


def schedules_of(schedules: Schedules) -> Iterator[Metric]:
    """Sessions that go by several paths at once, and the paths that they take."""
    if not schedules.rules:
        return
    sessions = GaugeMetricFamily("wayname_schedule_sessions", "Sessions by several paths at once.", labels=["schedule"])
    labels = ["schedule", "registers", "path"]
    opened = GaugeMetricFamily("wayname_schedule_path_open", "Whether packets take a path.", labels=labels)
    for name, rule in schedules.rules.items():
        group = schedules.group(name)
        sessions.add_metric([name], len(group.sessions) if group else 0)
        registers = schedules.registers(name)
        if registers is None:
            continue
        is_open = {way: not group.known[way].closed for way in group.ways} if group else {}
        # Of a path that no session takes any more too: an alert must find it.
        for way, takes in sorted({**dict.fromkeys(schedules.left(name), False), **is_open}.items()):
            opened.add_metric([name, str(registers.schedule), rule.config.paths[way].name], takes)
    yield sessions
    yield opened
