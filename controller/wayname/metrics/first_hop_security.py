"""How much of the tables each port has, for Prometheus."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily, Metric

from wayname.composition.edge import Edge
from wayname.config.model import Config


def port_shares_of(edge: Edge, config: Config) -> Iterator[Metric]:
    """Stations, bindings and neighbours behind each port, and the most that there may be."""
    labels = ["port", "name"]
    stations = GaugeMetricFamily("wayname_port_macs", "Stations behind a port.", labels=labels)
    most_macs = GaugeMetricFamily("wayname_port_max_macs", "Stations that may be behind a port.", labels=labels)
    bindings = GaugeMetricFamily("wayname_port_bindings", "Addresses bound to a port.", labels=labels)
    neighbours = GaugeMetricFamily("wayname_port_neighbours", "Neighbours behind a port.", labels=labels)
    most_addresses = GaugeMetricFamily(
        "wayname_port_max_addresses", "Bindings, and neighbours, that a port may have.", labels=labels
    )
    for port in config.ports:
        of_port = [str(port.number), port.name]
        stations.add_metric(of_port, edge.fdb.count(port.number))
        most_macs.add_metric(of_port, edge.host_ports.max_macs(port.number))
        bindings.add_metric(of_port, edge.bindings.count(port.number))
        neighbours.add_metric(of_port, edge.neighbours.count(port.number))
        most_addresses.add_metric(of_port, edge.host_ports.max_addresses(port.number))
    yield from (stations, most_macs, bindings, neighbours, most_addresses)
