"""What Prometheus scrapes: the controller's own numbers, and the switch's as they were read for this scrape."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector

from wayname.escape import escaped
from wayname.metrics.first_hop_security import port_shares_of
from wayname.metrics.fleet import fleet_of
from wayname.metrics.paths import paths_of
from wayname.metrics.providers import TRANSLATED, providers_of, translated_by
from wayname.metrics.schedules import schedules_of
from wayname.metrics.sessions import sessions_of
from wayname.metrics.tracking import tracking_of
from wayname.pipeline.reasons import drop_words, punt_words
from wayname.snapshot.held_back import held_back as held_back_of
from wayname.snapshot.running import Running, reconnects
from wayname.snapshot.switch_snapshot import SwitchSnapshot

COUNTERS = ("port_received", "port_sent", "ingress_drops", "egress_drops", "punts", "errors_sent", "errors_held_back")
# Those of few entries that count what has a metric. To read all tables takes as long as there are sessions and routes.
TABLES = ("ioam_traces", *TRANSLATED.values())


class Scrape(Collector):
    """One scrape's numbers."""

    def __init__(
        self, running: Running, by_kind: Mapping[tuple[str, str], int], switch_snapshot: SwitchSnapshot | None
    ) -> None:
        self.running = running
        self.by_kind = by_kind
        self.switch_snapshot = switch_snapshot

    def collect(self) -> Iterable[Metric]:
        """Return all of them."""
        yield from self.controller()
        if self.switch_snapshot is not None:
            yield from self.switch(self.switch_snapshot)

    def controller(self) -> Iterator[Metric]:
        """What the controller knows by itself."""
        running, known = self.running, self.running.edge
        yield GaugeMetricFamily("wayname_switch_connected", "Whether the switch is there.", running.connected)
        yield CounterMetricFamily(
            "wayname_switch_reconnects", "Times the way to the switch was found again.", reconnects(running)
        )
        yield CounterMetricFamily("wayname_writes", "Updates written to the switch.", running.writes)
        yield CounterMetricFamily("wayname_failed_writes", "Updates that the switch refused.", running.failed_writes)
        yield GaugeMetricFamily("wayname_hosts", "Stations that are known.", len(list(known.fdb)))
        up = [neighbour.mac is not None for neighbour in known.neighbours]
        neighbours = GaugeMetricFamily("wayname_neighbours", "Addresses on the router's links.", labels=["state"])
        neighbours.add_metric(["up"], up.count(True))
        neighbours.add_metric(["down"], up.count(False))
        yield neighbours
        given_up = CounterMetricFamily(
            "wayname_neighbour_resolution_failures",
            "Neighbours that were asked for no longer, since by their port too many were.",
            labels=["port"],
        )
        for port, number in known.neighbours.resolutions.given_up.items():
            given_up.add_metric(["" if port is None else str(port)], number)
        yield given_up
        events = CounterMetricFamily("wayname_events", "Events by kind.", labels=["kind", "severity"])
        for (kind, severity), count in sorted(self.by_kind.items()):
            events.add_metric([kind, severity], count)
        yield events
        yield from port_shares_of(known, running.config)
        faults = CounterMetricFamily("wayname_faults", "Inputs that a mistake of the program met.", labels=["input"])
        for kind, count in sorted(known.faults.counts.items()):
            faults.add_metric([kind], count)
        yield faults
        undecodable = CounterMetricFamily(
            "wayname_undecodable_packets", "Packets to the controller that hold no valid message.", labels=["reason"]
        )
        for reason, count in sorted(known.undecodable.items()):
            undecodable.add_metric([punt_words(reason)], count)
        yield undecodable
        refused = CounterMetricFamily(
            "wayname_refused_messages",
            "Messages between hosts that are checked and did not pass.",
            labels=["of", "why"],
        )
        for protocol, managers in known.spoken:
            for manager in managers:
                for why, count in sorted(manager.refused.items()):
                    refused.add_metric([protocol.name, why], count)
        yield refused
        yield from fleet_of(running)
        yield from providers_of(known, running.now)
        yield from tracking_of(known)
        yield from sessions_of(known)
        for protocol, managers in known.spoken:
            for manager in managers:
                yield from protocol.metrics(manager)
        yield from schedules_of(known.schedules)
        yield from paths_of(known.encapsulation.traces.collector)

    def switch(self, switch_snapshot: SwitchSnapshot) -> Iterator[Metric]:
        """What was read from the switch."""
        for way, counter in (("received", "port_received"), ("sent", "port_sent")):
            packets = CounterMetricFamily(f"wayname_port_{way}_packets", f"Packets {way}.", labels=["port", "name"])
            octets = CounterMetricFamily(f"wayname_port_{way}_bytes", f"Bytes {way}.", labels=["port", "name"])
            for port in self.running.config.ports:
                count = switch_snapshot.counted(counter, port.number)
                packets.add_metric([str(port.number), port.name], count.packets)
                octets.add_metric([str(port.number), port.name], count.bytes)
            yield packets
            yield octets
        drops = CounterMetricFamily("wayname_drops", "Packets dropped.", labels=["where", "reason", "name"])
        for where in ("ingress", "egress"):
            for reason, number in packets_of(switch_snapshot, f"{where}_drops"):
                drops.add_metric([where, str(reason), drop_words(reason)], number)
        yield drops
        punts = CounterMetricFamily("wayname_punts", "Packets to the controller.", labels=["reason"])
        for reason, number in packets_of(switch_snapshot, "punts"):
            punts.add_metric([punt_words(reason)], number)
        yield punts
        held_back = CounterMetricFamily(
            "wayname_punts_rate_limited",
            "Packets that were too many for the controller.",
            labels=["class", "port", "name", "where"],
        )
        for row in held_back_of(self.running, switch_snapshot):
            for where, number in (("switch", row.switch), ("controller", row.controller)):
                held_back.add_metric([row.name, str(row.port), row.port_name, where], number)
        yield held_back
        errors = CounterMetricFamily("wayname_icmpv6_errors", "ICMPv6 errors by type.", labels=["type", "sent"])
        for counter, sent in (("errors_sent", "yes"), ("errors_held_back", "no")):
            for kind, number in packets_of(switch_snapshot, counter):
                errors.add_metric([str(kind), sent], number)
        yield errors
        yield from translated_by(self.running.edge.translation, switch_snapshot)
        yield traces_put(self.running, switch_snapshot)
        entries = GaugeMetricFamily("wayname_table_entries", "Entries of the controller in a table.", labels=["table"])
        sizes = GaugeMetricFamily("wayname_table_size", "Entries that a table can hold.", labels=["table"])
        for table in self.running.schema.tables:
            entries.add_metric([table.alias], self.running.edge.entries_by_table[table.alias])
            sizes.add_metric([table.alias], table.size)
        yield entries
        yield sizes


def traces_put(running: Running, switch_snapshot: SwitchSnapshot) -> Metric:
    """Packets that were to get each trace; what ends elsewhere, the controller there counts."""
    carrying = running.edge.encapsulation
    put = CounterMetricFamily("wayname_ioam_traces_inserted", "Packets that a trace is for.", labels=["trace"])
    for trace in carrying.current.traces:
        number = carrying.trace_number(trace.name)
        packets = sum(
            each.count.packets for each in switch_snapshot.tables["ioam_traces"] if each.match["trace"] == number
        )
        put.add_metric([trace.name], packets)
    return put


def packets_of(switch_snapshot: SwitchSnapshot, counter: str) -> list[tuple[int, int]]:
    """The indices that counted something, with their packets."""
    return [
        (index, count.packets) for index, count in sorted(switch_snapshot.counters[counter].items()) if count.packets
    ]


def exposition(
    running: Running, by_kind: Mapping[tuple[str, str], int], switch_snapshot: SwitchSnapshot | None
) -> bytes:
    """Write all numbers in Prometheus's text format."""
    return text_of(Scrape(running, by_kind, switch_snapshot))


def text_of(numbers: Collector) -> bytes:
    """Write numbers in Prometheus's text format."""
    registry = CollectorRegistry()
    registry.register(numbers)
    # Labels are names, and not all of them are ours; what the format itself needs escaped is so already.
    return "\n".join(escaped(line) for line in generate_latest(registry).decode().split("\n")).encode()
