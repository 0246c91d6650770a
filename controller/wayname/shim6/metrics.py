"""Rules of users, and contexts of the fleet, for Prometheus."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, Metric

from wayname.session.protocol import SessionManager
from wayname.shim6.edge.sessions import Shim6Sessions


def metrics_of(known: SessionManager) -> Iterator[Metric]:
    """How often users' rules of when to begin failed, and what came of questions to the directory of the fleet."""
    if not isinstance(known, Shim6Sessions):
        return
    rules = CounterMetricFamily(
        "wayname_trigger_rule_failures",
        "Times that a user's rule failed, so that no session began.",
        labels=["rule", "why"],
    )
    for name, rule in known.rules.custom.items():
        for why, count in sorted(rule.failed.items()):
            rules.add_metric([name, why], count)
    yield rules
    if known.fleet is not None:
        lookups = CounterMetricFamily(
            "wayname_directory_lookups",
            "Questions to the directory of the fleet about peers, by what came of them.",
            labels=["result"],
        )
        for result, count in sorted(known.fleet.results.items()):
            lookups.add_metric([result], count)
        yield lookups
