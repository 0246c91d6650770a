"""Stations (the FDB): where the bridge has seen each source, learned from digests and forgotten when it falls silent.

A port has as many as `max_macs`. Then the switch drops what comes from others there, if hosts are behind it: what
is sent back to a station that is not learned is flooded. The tables have a share for each port, so that no port takes
the room of another's stations.

A station that is seen behind another port stays where it is while it is heard there. Its addresses are asked for, and
whether it is silent the switch says, by a shorter idle timeout of its entry.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from ipaddress import IPv6Address
from itertools import islice
from math import inf

import finsy as fy

from wayname.config.model import Config
from wayname.edge.boundary import LearnedMac, Severity
from wayname.edge.first_hop_security.anchor import Anchor
from wayname.edge.first_hop_security.challenges import TURNED_DOWN, Challenges
from wayname.edge.first_hop_security.host_ports import HostPorts
from wayname.edge.links import Links
from wayname.edge.outputs import Outputs
from wayname.edge.rate_limited_events import RateLimitedEvents
from wayname.pipeline import entries
from wayname.pipeline.entries import Entity
from wayname.pipeline.first_hop_security import refused_source
from wayname.timers import Timers, earliest
from wayname.wire.discovery import HOP_LIMIT, NeighbourSolicitation
from wayname.wire.mac import Mac

Place = tuple[int, Mac]  # VLAN and MAC

# How long a station has for an answer to each of two questions, and how long it has to be silent to be gone: one that
# has an address to ask for, and one that has none. The switch tells of silence up to a tenth of a second late.
INTERVAL = 0.5
SILENT_ASKED = 0.75
SILENT_UNASKED = 30.0
# Of a station's addresses so many are asked for.
MOST_ASKED_FOR = 4
# Stations that are refused at a port at once; of more, every frame is a digest.
MOST_REFUSED = 256


@dataclass(slots=True)
class FdbEntry:
    """A station, the port it is behind, and since when; one that the configuration places never moves."""

    vlan: int
    mac: Mac
    port: int
    since: float
    static: bool = False


class Fdb:
    """Keeps `learned_macs` and `fdb` alike; `moved` hears of a known station at another port."""

    def __init__(
        self,
        config: Config,
        limit: int,
        host_ports: HostPorts,
        links: Links,
        outputs: Outputs,
        addresses_of: Callable[[int, Mac], Iterable[IPv6Address]],
        moved: Callable[[int, Mac, int, float], None],
    ) -> None:
        self._config = config
        self._limit = limit
        self._host_ports = host_ports
        self._links = links
        self._outputs = outputs
        self._addresses_of = addresses_of
        self._moved = moved
        self._rate_limited_events = RateLimitedEvents(outputs)
        self._stations: dict[Place, FdbEntry] = {}
        self._count: Counter[int] = Counter()
        self._full = False
        self._full_ports: set[int] = set()
        self._challenges: Challenges[Place] = Challenges(INTERVAL, self._ask, self._gone)
        self._silent: set[Place] = set()
        self._refused: Timers[tuple[Place, int]] = Timers()
        self._refused_at: Counter[int] = Counter()
        for neighbour in config.static_neighbours:
            if (neighbour.at.vlan, neighbour.mac) not in self._stations:
                self._install(FdbEntry(neighbour.at.vlan, neighbour.mac, neighbour.port, 0.0, static=True))

    def __iter__(self) -> Iterator[FdbEntry]:
        return iter(self._stations.values())

    def port_of(self, vlan: int, mac: Mac) -> int | None:
        """Return the port behind which a station is."""
        station = self._stations.get((vlan, mac))
        return station.port if station else None

    def count(self, port: int) -> int:
        """Return how many stations are behind a port."""
        return self._count[port]

    def adopt(self, entities: Iterable[Entity], now: float) -> None:
        """Take over what an earlier controller learned, unless this one knows better."""
        seen: dict[Place, int] = {}
        for entity in entities:
            if not isinstance(entity, fy.P4TableEntry) or not isinstance(entity.action, fy.P4TableAction):
                continue
            if entity.table_id == "learned_macs" and entity.action.name == "known_mac":
                seen.setdefault((entity["vlan"], Mac(entity["source"])), entity["port"])
            elif entity.table_id == "fdb":
                seen[entity["vlan"], Mac(entity["destination"])] = entity.action.args["port"]
        for (vlan, mac), port in seen.items():
            if (vlan, mac) not in self._stations and self._is_member(port, vlan) and self._has_room(port, now):
                self._install(FdbEntry(vlan, mac, port, now))

    def stop(self) -> None:
        """Nobody can be asked while the switch is away."""
        self._challenges.stop()
        self._silent.clear()
        self._end_refusals(inf)

    def learned(self, learned: LearnedMac, now: float) -> None:
        """A source was seen where it was not known to be."""
        vlan, mac, port = learned.vlan, Mac(learned.mac), learned.port
        if not self._is_member(port, vlan):
            return
        known = self._stations.get((vlan, mac))
        if known is None:
            if self._has_room(port, now):
                self._install(FdbEntry(vlan, mac, port, now))
                self._outputs.event(now, "station.found", mac, f"{mac} is behind port {port}, VLAN {vlan}")
        elif known.port != port:
            if known.static:
                self._refuse(known, port, now)
            elif self._is_guarded(known):
                self._challenge(known, port, now)
            else:
                self._move(known, port, now)

    def heard(self, vlan: int, mac: Mac, port: int, now: float) -> None:
        """A packet came from a station; if somebody else wants its place, it is there still."""
        station = self._stations.get((vlan, mac))
        if station is not None and station.port == port and (vlan, mac) in self._challenges:
            self._keep(station, now)

    def idle(self, entry: fy.P4TableEntry, now: float) -> None:
        """A source was silent for long."""
        place = (entry["vlan"], Mac(entry["source"]))
        station = self._stations.get(place)
        if station is None or station.port != entry["port"]:
            return
        if place in self._challenges:
            self._silent.add(place)
            return
        if entry.idle_timeout_ns < int(self._config.timing.mac_aging_time * 1e9):
            # It was asked for, and has answered since.
            return
        self._forget(station)
        text = f"{station.mac} was silent for {self._config.timing.mac_aging_time:g} s"
        self._outputs.event(now, "station.gone", station.mac, text)

    def refused(self, entity: Entity, now: float) -> None:
        """The switch has no room for an entry of a station."""
        if isinstance(entity, fy.P4TableEntry) and entity.table_id in ("learned_macs", "fdb"):
            mac = Mac(entity["source"] if entity.table_id == "learned_macs" else entity["destination"])
            station = self._stations.get((entity["vlan"], mac))
            if station is not None:
                self._forget(station)
                self._say_full(now)

    def next_timer(self) -> float | None:
        """Return when `handle_timer` has to be called at the latest."""
        return earliest((self._challenges.next_timer(), self._refused.next()))

    def handle_timer(self, now: float, late: float) -> None:
        """Do what is due."""
        self._challenges.handle_timer(now, late)
        self._end_refusals(now)

    def _end_refusals(self, now: float) -> None:
        for (vlan, mac), port in self._refused.due(now):
            self._refused_at[port] -= 1
            station = self._stations.get((vlan, mac))
            if station is None or station.port != port:
                self._outputs.desired.remove(refused_source(port, vlan, mac))

    def _challenge(self, station: FdbEntry, port: int, now: float) -> None:
        place = (station.vlan, station.mac)
        if self._challenges.begin(place, Anchor(port, station.mac), now):
            asked = any(True for _ in self._addresses_of(*place))
            self._silent.discard(place)
            self._outputs.desired.put(self._source(station, SILENT_ASKED if asked else SILENT_UNASKED))

    def _ask(self, place: Place) -> None:
        vlan, mac = place
        station, interface = self._stations[place], self._config.interface(vlan)
        if interface is not None:
            for address in islice(self._addresses_of(vlan, mac), MOST_ASKED_FOR):
                message = NeighbourSolicitation(address, interface.mac).message()
                packet = message.packet(interface.link_local, address, HOP_LIMIT)
                self._links.send(interface, station.port, mac, packet)

    def _gone(self, place: Place, challenger: Anchor | None, now: float) -> None:
        """Nobody answered: the station moves if the switch did not hear it either."""
        station = self._stations[place]
        if challenger is not None and place in self._silent:
            self._silent.discard(place)
            self._move(station, challenger.port, now)
        elif challenger is not None:
            self._outputs.desired.put(self._source(station, self._config.timing.mac_aging_time))
            self._refuse(station, challenger.port, now)

    def _keep(self, station: FdbEntry, now: float) -> None:
        place = (station.vlan, station.mac)
        self._silent.discard(place)
        challenger = self._challenges.answered(place, now)
        self._outputs.desired.put(self._source(station, self._config.timing.mac_aging_time))
        if challenger is not None:
            self._refuse(station, challenger.port, now)

    def _refuse(self, station: FdbEntry, port: int, now: float) -> None:
        """Let nothing of a station in where it is not, for some seconds."""
        text = f"{station.mac} is behind port {station.port}, VLAN {station.vlan}, and is not taken to be behind {port}"
        self._rate_limited_events.tell(now, "station.refused", station.mac, text)
        place = (station.vlan, station.mac)
        if self._refused.at((place, port)) is None and self._refused_at[port] < MOST_REFUSED:
            self._refused_at[port] += 1
            self._refused.set((place, port), now + TURNED_DOWN)
            self._outputs.desired.put(refused_source(port, *place))

    def _move(self, station: FdbEntry, port: int, now: float) -> None:
        vlan, mac, before = station.vlan, station.mac, station.port
        self._forget(station)
        if self._has_room(port, now):
            self._install(FdbEntry(vlan, mac, port, now))
            self._outputs.event(now, "station.moved", mac, f"{mac} went from port {before} to port {port}, VLAN {vlan}")
            self._moved(vlan, mac, port, now)

    def _has_room(self, port: int, now: float) -> bool:
        if self._count[port] >= self._host_ports.max_macs(port):
            self._host_ports.stations_full(port, True)
            if port not in self._full_ports:
                self._full_ports.add(port)
                text = f"{self._count[port]} stations are behind port {port}, as many as may be; see max_macs"
                self._outputs.event(now, "stations.port_full", port, text, Severity.WARNING)
            return False
        if len(self._stations) < self._limit:
            return True
        self._say_full(now)
        return False

    def _say_full(self, now: float) -> None:
        if not self._full:
            text = f"no room for more than {len(self._stations)} stations; traffic to new ones is flooded"
            self._outputs.event(now, "stations.full", "stations", text, Severity.WARNING)
        self._full = True

    def _install(self, station: FdbEntry) -> None:
        self._stations[station.vlan, station.mac] = station
        self._count[station.port] += 1
        self._outputs.desired.put(entries.fdb_entry(station.vlan, station.mac, station.port))
        self._outputs.desired.put(self._source(station, self._config.timing.mac_aging_time))

    def _forget(self, station: FdbEntry) -> None:
        place = (station.vlan, station.mac)
        self._challenges.forget(place)
        self._silent.discard(place)
        del self._stations[place]
        self._count[station.port] -= 1
        self._full = False
        self._full_ports.discard(station.port)
        self._host_ports.stations_full(station.port, False)
        self._outputs.desired.remove(self._source(station, 0))
        self._outputs.desired.remove(entries.fdb_entry(*place, station.port))

    def _source(self, station: FdbEntry, idle: float) -> fy.P4TableEntry:
        return entries.source(station.port, station.vlan, station.mac, 0.0 if station.static else idle)

    def _is_guarded(self, station: FdbEntry) -> bool:
        port = self._config.port(station.port)
        return port is not None and port.mac_move_guard

    def _is_member(self, port: int, vlan: int) -> bool:
        known = self._config.port(port)
        return known is not None and vlan in known.vlans
