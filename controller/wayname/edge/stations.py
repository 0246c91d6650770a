"""Stations: where the bridge has seen each source, learned from digests and forgotten when it falls silent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import finsy as fy

from wayname.config.model import Config
from wayname.edge.boundary import Learned, Severity
from wayname.edge.outputs import Outputs
from wayname.pipeline import entries
from wayname.pipeline.entries import Entity
from wayname.wire.mac import Mac

Place = tuple[int, Mac]  # VLAN and MAC


@dataclass(slots=True)
class Station:
    """A station, the port it is behind, and since when."""

    vlan: int
    mac: Mac
    port: int
    since: float


class Stations:
    """Keeps `sources` and `stations` alike; `moved` hears of a known station at another port."""

    def __init__(
        self, config: Config, limit: int, outputs: Outputs, moved: Callable[[int, Mac, int, float], None]
    ) -> None:
        self._config = config
        self._limit = limit
        self._outputs = outputs
        self._moved = moved
        self._stations: dict[Place, Station] = {}
        self._full = False

    def __iter__(self) -> Iterator[Station]:
        return iter(self._stations.values())

    def port_of(self, vlan: int, mac: Mac) -> int | None:
        """Return the port behind which a station is."""
        station = self._stations.get((vlan, mac))
        return station.port if station else None

    def adopt(self, entities: Iterable[Entity], now: float) -> None:
        """Take over what an earlier controller learned, unless this one knows better."""
        seen: dict[Place, int] = {}
        for entity in entities:
            if not isinstance(entity, fy.P4TableEntry) or not isinstance(entity.action, fy.P4TableAction):
                continue
            if entity.table_id == "sources":
                seen.setdefault((entity["vlan"], Mac(entity["source"])), entity["port"])
            elif entity.table_id == "stations":
                seen[entity["vlan"], Mac(entity["destination"])] = entity.action.args["port"]
        for (vlan, mac), port in seen.items():
            if (vlan, mac) not in self._stations and self._is_member(port, vlan):
                self._install(Station(vlan, mac, port, now))

    def learned(self, learned: Learned, now: float) -> None:
        """A source was seen where it was not known to be."""
        vlan, mac, port = learned.vlan, Mac(learned.mac), learned.port
        if not self._is_member(port, vlan):
            return
        known = self._stations.get((vlan, mac))
        if known is None:
            if self._has_room(now):
                self._install(Station(vlan, mac, port, now))
                self._outputs.event(now, "station.found", mac, f"{mac} is behind port {port}, VLAN {vlan}")
        elif known.port != port:
            self._outputs.desired.remove(self._source(known))
            text = f"{mac} went from port {known.port} to port {port}, VLAN {vlan}"
            self._install(Station(vlan, mac, port, now))
            self._outputs.event(now, "station.moved", mac, text)
            self._moved(vlan, mac, port, now)

    def idle(self, entry: fy.P4TableEntry, now: float) -> None:
        """A source was silent for long."""
        station = self._stations.get((entry["vlan"], Mac(entry["source"])))
        if station is not None and station.port == entry["port"]:
            self._forget(station)
            text = f"{station.mac} was silent for {self._config.timing.station_idle:g} s"
            self._outputs.event(now, "station.gone", station.mac, text)

    def refused(self, entity: Entity, now: float) -> None:
        """The switch has no room for an entry of a station."""
        if isinstance(entity, fy.P4TableEntry) and entity.table_id in ("sources", "stations"):
            mac = Mac(entity["source"] if entity.table_id == "sources" else entity["destination"])
            station = self._stations.get((entity["vlan"], mac))
            if station is not None:
                self._forget(station)
                self._say_full(now)

    def _has_room(self, now: float) -> bool:
        if len(self._stations) < self._limit:
            return True
        self._say_full(now)
        return False

    def _say_full(self, now: float) -> None:
        if not self._full:
            text = f"no room for more than {len(self._stations)} stations; traffic to new ones is flooded"
            self._outputs.event(now, "stations.full", "stations", text, Severity.WARNING)
        self._full = True

    def _install(self, station: Station) -> None:
        self._stations[station.vlan, station.mac] = station
        self._outputs.desired.put(entries.station(station.vlan, station.mac, station.port))
        self._outputs.desired.put(self._source(station))

    def _forget(self, station: Station) -> None:
        del self._stations[station.vlan, station.mac]
        self._full = False
        self._outputs.desired.remove(self._source(station))
        self._outputs.desired.remove(entries.station(station.vlan, station.mac, station.port))

    def _source(self, station: Station) -> fy.P4TableEntry:
        return entries.source(station.port, station.vlan, station.mac, self._config.timing.station_idle)

    def _is_member(self, port: int, vlan: int) -> bool:
        known = self._config.port(port)
        return known is not None and vlan in known.vlans
