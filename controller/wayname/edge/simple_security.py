"""Simple security at a site's border: whether it is on, and its pinholes, also those that were opened since."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import IPv6Network

from wayname.config.model import Config
from wayname.config.simple_security import MOST_PINHOLES, Pinhole
from wayname.edge.boundary import Json
from wayname.edge.outputs import Outputs
from wayname.pipeline import simple_security as tables

KIND = "pinhole"


class SimpleSecurityManager:
    """Wants the entries of simple security. What is opened while it runs is remembered for the next controller."""

    def __init__(self, config: Config, remembered: Mapping[str, Json], outputs: Outputs) -> None:
        self._config = config
        self._outputs = outputs
        found = dict.fromkeys(sorted(_remembered(remembered)))
        self._live = [each for each in found if each not in config.pinholes]
        if config.filters_inbound:
            for entry in tables.filter_inbound(config.simple_security.filtering):
                outputs.desired.put(entry)
            for pinhole in self.pinholes[:MOST_PINHOLES]:
                outputs.desired.put(tables.pinhole(pinhole))

    @property
    def enabled(self) -> bool:
        """Whether only what answers comes in."""
        return self._config.filters_inbound

    @property
    def pinholes(self) -> list[Pinhole]:
        """All of them, those of the configuration first."""
        return [*self._config.pinholes, *self._live]

    def is_live(self, pinhole: Pinhole) -> bool:
        """Whether a pinhole was opened since, and so can be closed."""
        return pinhole in self._live

    def set(self, pinhole: Pinhole, opened: bool, now: float) -> None:
        """Open a pinhole, or close it."""
        if opened and pinhole not in self.pinholes:
            self._live.append(pinhole)
            self._outputs.desired.put(tables.pinhole(pinhole))
            self._outputs.remember(_key(pinhole), True)
            self._outputs.event(now, "pinhole.opened", pinhole.inside, f"anybody may begin flows to {pinhole}")
        elif not opened and self.is_live(pinhole):
            self._live.remove(pinhole)
            self._outputs.desired.remove(tables.pinhole(pinhole))
            self._outputs.remember(_key(pinhole), None)
            self._outputs.event(now, "pinhole.closed", pinhole.inside, f"only the inside begins flows of {pinhole}")


def _key(pinhole: Pinhole) -> str:
    first, last = pinhole.ports or ("-", "-")
    protocol = "-" if pinhole.protocol is None else pinhole.protocol
    return f"{KIND} {pinhole.inside} {protocol} {first} {last}"


def _remembered(remembered: Mapping[str, Json]) -> Iterator[Pinhole]:
    for key in remembered:
        kind, *parts = key.split(" ")
        if kind == KIND and len(parts) == 4:
            inside, protocol, first, last = parts
            ports = None if first == "-" else (int(first), int(last))
            yield Pinhole(IPv6Network(inside), None if protocol == "-" else int(protocol), ports)
