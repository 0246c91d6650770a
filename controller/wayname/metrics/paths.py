"""What traces and direct exports told, for Prometheus."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from wayname.ioam.collector import Collector

NANOSECONDS = 1e9


def paths_of(collector: Collector) -> Iterator[Metric]:
    """Figures of all paths and flows that are known; seconds, as Prometheus has them."""
    labels = ["path"]
    traces = CounterMetricFamily("wayname_ioam_path_traces", "Traces that ended here.", labels=labels)
    delay = GaugeMetricFamily(
        "wayname_ioam_path_delay_seconds", "From the first node to the last, smoothed.", labels=labels
    )
    jitter = GaugeMetricFamily("wayname_ioam_path_jitter_seconds", "How much the delay changes.", labels=labels)
    inside = GaugeMetricFamily("wayname_ioam_path_residence_seconds", "Time inside the nodes, smoothed.", labels=labels)
    queue = GaugeMetricFamily(
        "wayname_ioam_path_queue_packets", "The longest queue on the way, smoothed.", labels=labels
    )
    in_node = ["path", "position", "node"]
    node_delay = GaugeMetricFamily("wayname_ioam_path_node_delay_seconds", "Time in a node, smoothed.", labels=in_node)
    node_queue = GaugeMetricFamily("wayname_ioam_path_node_queue_packets", "Queue of a node, smoothed.", labels=in_node)
    for path in collector.paths():
        name = [str(path.id)]
        traces.add_metric(name, path.count)
        if path.delay.count:
            delay.add_metric(name, path.delay.smoothed / NANOSECONDS)
            jitter.add_metric(name, path.jitter / NANOSECONDS)
        if path.inside.count:
            inside.add_metric(name, path.inside.smoothed / NANOSECONDS)
        if path.queue.count:
            queue.add_metric(name, path.queue.smoothed)
        for position, node in enumerate(path.nodes):
            place = [*name, str(position), f"{node.node:x}"]
            if node.delay.count:
                node_delay.add_metric(place, node.delay.smoothed / NANOSECONDS)
            if node.queue.count:
                node_queue.add_metric(place, node.queue.smoothed)
    yield from (traces, delay, jitter, inside, queue, node_delay, node_queue)
    of_flow = ["namespace", "flow", "node"]
    seen = CounterMetricFamily(
        "wayname_ioam_direct_export_seen", "Packets of a flow of direct exports.", labels=of_flow
    )
    lost = GaugeMetricFamily("wayname_ioam_direct_export_lost", "Packets that are missing of it.", labels=of_flow)
    for flow in collector.flows():
        name = [str(flow.namespace), str(flow.flow), f"{flow.node:x}"]
        seen.add_metric(name, flow.seen)
        lost.add_metric(name, flow.lost)
    yield from (seen, lost)
