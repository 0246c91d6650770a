"""Advertises a site's prefix on the link to it, as its provider's router does, in the words that hosts are told.

python -m wayname_lab.advertiser --wire PATH --mac MAC      is one at the end of a wire

    {"command": "advertise", "prefix": PREFIX}      from now on, with LIFETIME
    {"command": "withdraw"}                         from now on, with lifetimes of 0 (RFC 4862, section 5.5.3 e)
"""

from __future__ import annotations

import argparse
import asyncio
import json
from ipaddress import IPv6Network
from pathlib import Path

from wayname.wire.discovery import ALL_NODES, HOP_LIMIT, Prefix, RouterAdvertisement
from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname.wire.mac import Mac, group_mac
from wayname_lab.host_process import HostProcess
from wayname_lab.planned import AdvertiserPlan

SECOND = 1_000_000_000
# How often it advertises, and how long a prefix is valid and preferred: what is withdrawn is gone soon after.
EVERY = 4 * SECOND
LIFETIME = 20
ROUTER_LIFETIME = 1800


class Advertiser:
    """Says nothing but its advertisements, and hears nobody; times in nanoseconds."""

    def __init__(self, mac: str) -> None:
        self._mac = Mac.parse(mac)
        self._prefix: Prefix | None = None
        self._due: int | None = None
        self._events: list[dict[str, object]] = []
        self._flows = 0

    def command(self, line: str) -> int | None:
        """Advertise from now on, or withdraw what was advertised."""
        command = json.loads(line)
        if command["command"] == "advertise":
            self._prefix = Prefix(IPv6Network(command["prefix"]), LIFETIME, LIFETIME, on_link=False)
        elif command["command"] == "withdraw" and self._prefix is not None:
            self._prefix = Prefix(self._prefix.network, 0, 0, on_link=False)
        else:
            raise ValueError(f"{line}: advertise, or withdraw what is advertised")
        self._due = 0
        self._flows += 1
        self._events.append({"event": "started", "app": command["command"], "flow": self._flows})
        return self._flows

    def events(self) -> list[str]:
        """Return what happened since the last call."""
        told, self._events = self._events, []
        return [json.dumps(event) for event in told]

    def set_link(self, up: bool, now: int) -> None:
        """Advertise at once when the link comes."""
        if up and self._due is not None:
            self._due = now

    def receive(self, frame: bytes, now: int) -> None:
        """Nobody is answered."""

    def poll(self, now: int) -> list[bytes]:
        """Return the advertisement that is due."""
        if self._prefix is None or self._due is None or now < self._due:
            return []
        self._due = now + EVERY
        message = RouterAdvertisement(ROUTER_LIFETIME, prefixes=(self._prefix,)).message()
        packet = message.packet(self._mac.link_local(), ALL_NODES, HOP_LIMIT)
        return [Frame(group_mac(ALL_NODES), self._mac, TYPE_IPV6, packet.encode()).encode()]

    def next_wake(self, now: int) -> int | None:
        """Return when the next one is due."""
        return self._due


def begin(plan: AdvertiserPlan) -> dict[str, object]:
    """Return the command that lets a site hear of its prefix."""
    return {"command": "advertise", "prefix": str(plan.prefix)}


END: dict[str, object] = {"command": "withdraw"}


def main() -> None:
    """Run one until nobody is left who commands."""
    parser = argparse.ArgumentParser(prog="wayname_lab.advertiser", description="Advertises a prefix.")
    parser.add_argument("--wire", type=Path, required=True)
    parser.add_argument("--mac", required=True)
    given = parser.parse_args()
    asyncio.run(HostProcess(Advertiser(given.mac), given.wire).run())


if __name__ == "__main__":
    main()
