"""A controller in its fleet, for Prometheus."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily, Metric

from wayname.edge.boundary import VrrpRole
from wayname.snapshot.running import Running


def fleet_of(running: Running) -> Iterator[Metric]:
    """Return whether the controller leads its edge, and what waits for etcd; nothing of one that is alone."""
    member, fleet = running.fleet, running.config.fleet
    if member is None or fleet is None:
        return
    router = running.virtual_router
    if router is not None:
        family = GaugeMetricFamily("wayname_vrrp_active", "Whether this edge is its site's router.", labels=["edge"])
        family.add_metric([fleet.edge], float(router.role is VrrpRole.ACTIVE))
        yield family
    for name, about, value in (
        ("wayname_fleet_leads", "Whether this controller leads the edge.", member.leadership.term is not None),
        (
            "wayname_fleet_may_change",
            "Whether it leads the edge and etcd confirmed that in time, so that it may change the switch.",
            member.leadership.may_write(),
        ),
        ("wayname_fleet_unwritten", "Values for a successor that etcd does not have yet.", member.unwritten),
    ):
        family = GaugeMetricFamily(name, about, labels=["edge"])
        family.add_metric([fleet.edge], float(value))
        yield family
