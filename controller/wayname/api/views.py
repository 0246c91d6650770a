"""Puts what the controller and the switch know into the API's answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from ipaddress import IPv6Network
from typing import Literal

import finsy as fy

from wayname.adapter.events import RecordedEvent
from wayname.adapter.port_losses import PortLoss
from wayname.api import models
from wayname.api.models import (
    Address,
    Drop,
    Event,
    Host,
    NextHop,
    Port,
    Route,
    SwitchStatus,
    TableEntry,
    TableSummary,
)
from wayname.api.problems import ApiError
from wayname.config import model as configured
from wayname.config.model import Config
from wayname.config.provider import WrittenProvider
from wayname.edge.kernel.paths import OnLink
from wayname.edge.liveness import NextHopHealth
from wayname.netlink.protocols import protocol_words
from wayname.pipeline.reasons import drop_words
from wayname.snapshot.running import Running, reconnects
from wayname.snapshot.switch_snapshot import SwitchSnapshot, count_of, in_words
from wayname.wire.mac import Mac

PORT_COUNTERS = ("port_received", "port_sent")
DROP_COUNTERS: tuple[tuple[Literal["ingress", "egress"], str], ...] = (
    ("ingress", "ingress_drops"),
    ("egress", "egress_drops"),
)
PORT_LOSSES = {
    "port_refused": "the port had no room, or the kernel refused them",
    "too_long": "longer than the MTU of the port lets pass",
    "unknown_offload": "a host left them unsegmented in a way not known here",
    "overrun": "they came faster than they were taken",
}


def switch_status(running: Running) -> SwitchStatus:
    """The switch and the way to it."""
    switch = running.config.switch
    return SwitchStatus(
        address=switch.address,
        device_id=switch.device_id,
        target=switch.target,
        state=switch_state(running),
        reconnects=reconnects(running),
        writes=running.writes,
        failed_writes=running.failed_writes,
    )


def switch_state(running: Running) -> str:
    """How the way to the switch stands; who waits in a fleet seeks none."""
    if running.connected:
        return "ready"
    # The backup of a site's edge has a switch of its own, whoever leads.
    if running.fleet is None or running.virtual_router is not None or running.fleet.leadership.term is not None:
        return "connecting"
    return "waiting"


def waits_for(running: Running) -> list[str]:
    """What is missing until the edge is up."""
    if why := running.why_no_changes():
        return [f"the fleet: {why}"]
    if not running.connected:
        return [f"the switch at {running.config.switch.address}: `wayname events` says why"]
    if not running.reconciled:
        return ["the tables: they are being written"]
    return [
        f"provider {provider.name}: {address} was not heard yet"
        for provider in running.config.providers
        for address in unknown_next_hops(running, provider)
    ]


def is_used(running: Running, written: WrittenProvider) -> bool:
    """Whether new things go by a provider."""
    provider = next(iter(written.providers), None)
    return provider is not None and running.edge.reachability.is_open(provider)


def unknown_next_hops(running: Running, provider: configured.Provider) -> list[str]:
    """Return the next hops of a provider of which nobody knows yet whether they work; none if one is known to."""
    health = {hop.address: running.edge.liveness.health(hop) for hop, _ in provider.via}
    return [] if "up" in health.values() else [str(address) for address, is_ in health.items() if is_ == "unknown"]


def ports(config: Config, switch_snapshot: SwitchSnapshot, links: Mapping[int, bool]) -> list[Port]:
    """The configured ports, their links and what passed them."""
    answer = []
    for port in config.ports:
        received, sent = (switch_snapshot.counted(counter, port.number) for counter in PORT_COUNTERS)
        answer.append(
            Port(
                number=port.number,
                name=port.name,
                vlan=port.vlan,
                tagged=list(port.tagged),
                mtu=port.mtu,
                up=links.get(port.number),
                received_packets=received.packets,
                received_bytes=received.bytes,
                sent_packets=sent.packets,
                sent_bytes=sent.bytes,
            )
        )
    return answer


def hosts(running: Running) -> list[Host]:
    """Stations with their addresses; those without a station last."""
    where: dict[tuple[int, Mac], int | None] = {(each.vlan, each.mac): each.port for each in running.edge.fdb}
    addresses: defaultdict[tuple[int, Mac], list[Address]] = defaultdict(list)
    for neighbour in sorted(running.edge.neighbours, key=lambda each: each.at):
        if neighbour.mac is not None:
            where.setdefault((neighbour.at.vlan, neighbour.mac), None)
            address = Address(address=str(neighbour.at.address), state=neighbour.state)
            addresses[neighbour.at.vlan, neighbour.mac].append(address)
    answer = []
    for (vlan, mac), port in sorted(where.items(), key=lambda item: (item[1] is None, item[1] or 0, item[0])):
        name = port_name(running.config, port)
        answer.append(Host(vlan=vlan, mac=str(mac), port=port, port_name=name, addresses=addresses[vlan, mac]))
    return answer


def port_name(config: Config, number: int | None) -> str | None:
    """The name of a port, if it is one of ours."""
    port = None if number is None else config.port(number)
    return port.name if port else None


def port_called(config: Config, name: str) -> configured.Port:
    """The port that somebody named, by its name or number."""
    port = config.port_called(name)
    if port is None:
        known = ", ".join(f"{each.name} ({each.number})" for each in config.ports)
        raise ApiError(404, "No such port", f"{name!r} is not in the configuration; the ports are {known}")
    return port


def route_count(running: Running) -> int:
    """How many routes there are."""
    config, kernel = running.config, running.edge.kernel
    connected = sum(len(interface.global_addresses) for interface in config.interfaces)
    return len(config.routes) + connected + (len(kernel.routes) if kernel else 0)


def routes(running: Running, within: IPv6Network | None, most: int) -> list[Route]:
    """Routes of a prefix and within it, in order; of Linux's no more than so many."""
    config = running.config
    answer = [(route.prefix, static_route(running, route)) for route in config.routes]
    answer += _kernel_routes(running, within, most)
    for interface in config.interfaces:
        for own in interface.global_addresses:
            connected = Route(
                prefix=str(own.network),
                kind="connected",
                interface=interface.name,
                address=str(own.ip),
                via=[],
                used=True,
            )
            answer.append((own.network, connected))
    found = [each for each in answer if within is None or each[0].subnet_of(within)]
    return [route for _, route in sorted(found, key=lambda item: item[0])]


def _kernel_routes(running: Running, within: IPv6Network | None, most: int) -> Iterator[tuple[IPv6Network, Route]]:
    kernel = running.edge.kernel
    if kernel is None:
        return
    for prefix, route in kernel.routes.first(most, within):
        level = route.levels[0]
        via = [next_hop(running, hop, weight) for hop, weight in route.via]
        on_link = interface_name(running.config, route.leads.vlan) if isinstance(route.leads, OnLink) else None
        shown = Route(
            prefix=str(prefix),
            kind=protocol_words(level.protocol),
            origin="linux",
            interface=on_link,
            address=None,
            via=via,
            used=kernel.routes.is_used(prefix, route),
        )
        yield prefix, shown


def static_route(running: Running, route: configured.Route) -> Route:
    """A route of the configuration, as it stands now."""
    via = [next_hop(running, hop, weight) for hop, weight in route.via]
    kind, used = route.refusal or "static", running.edge.routes.is_used(route)
    return Route(prefix=str(route.prefix), kind=kind, interface=None, address=None, via=via, used=used)


def next_hop(running: Running, hop: configured.LinkAddress, weight: int) -> NextHop:
    """A next hop of a route, and whether it answers."""
    health = running.edge.liveness.health(hop)
    is_down = running.edge.routes.is_down(hop)
    return NextHop(
        address=str(hop.address),
        interface=interface_name(running.config, hop.vlan),
        weight=weight,
        health=NextHopHealth.DOWN if is_down else health,
    )


def interface_name(config: Config, vlan: int) -> str:
    """The name of the interface on a VLAN."""
    interface = config.interface(vlan)
    return interface.name if interface else f"vlan{vlan}"


def table_summaries(schema: fy.P4Schema, entries: Iterable[fy.P4TableEntry]) -> list[TableSummary]:
    """Each table in one line."""
    summaries = {
        table.alias: TableSummary(name=table.alias, about=table.brief, size=table.size, entries=0, packets=0, bytes=0)
        for table in schema.tables
    }
    for entry in entries:
        summary, count = summaries[entry.table_id], count_of(entry)
        summary.entries += 1
        summary.packets += count.packets
        summary.bytes += count.bytes
    return list(summaries.values())


def table_entry(entry: fy.P4TableEntry, schema: fy.P4Schema) -> TableEntry:
    """An entry in words."""
    words = in_words(entry, schema)
    return TableEntry(
        match=words.match,
        action=words.action,
        parameters=words.parameters,
        priority=words.priority,
        packets=words.count.packets,
        bytes=words.count.bytes,
    )


def drops(switch_snapshot: SwitchSnapshot) -> list[Drop]:
    """The reasons that counted something, the most frequent first."""
    answer = [
        Drop(reason=reason, name=drop_words(reason), where=where, packets=count.packets, bytes=count.bytes)
        for where, counter in DROP_COUNTERS
        for reason, count in switch_snapshot.counters[counter].items()
        if count.packets
    ]
    return sorted(answer, key=lambda each: (-each.packets, each.reason))


def port_losses(config: Config, lost: Iterable[PortLoss]) -> list[models.PortLoss]:
    """Ports and reasons that lost something, the most first."""
    names = {port.number: port.name for port in config.ports}
    answer = [
        models.PortLoss(
            port=each.port,
            port_name=names.get(each.port, ""),
            reason=each.reason,
            name=PORT_LOSSES.get(each.reason, each.reason),
            packets=each.packets,
        )
        for each in lost
        if each.packets
    ]
    return sorted(answer, key=lambda each: (-each.packets, each.port))


def event(recorded: RecordedEvent) -> Event:
    """An event with its number and time."""
    return Event(
        sequence=recorded.sequence,
        time=recorded.at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        kind=recorded.event.kind,
        severity=recorded.event.severity,
        subject=recorded.event.subject,
        text=recorded.event.text,
        details=dict(recorded.event.details),
    )
