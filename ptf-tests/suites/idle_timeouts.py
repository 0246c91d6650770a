"""Stations that fall silent: the switch says so, and keeps the entry."""

import finsy as fy

from harness.edge_test import EdgeTest
from small_site import HOST, IP_OF, from_host, udp

SOON = 50_000_000
NEVER = 3600 * 1_000_000_000


class IdleTest(EdgeTest):
    """A test of stations that may fall silent."""

    def station(self, port: int, idle: int) -> fy.P4TableEntry:
        """A source on this port that may be silent so long."""
        entry = self.entries.entry("learned_macs", {"port": port, "vlan": 1, "source": HOST[port]}, "known_mac")
        entry.idle_timeout_ns = idle
        return entry

    def idle(self) -> list[int]:
        """The ports of the stations that the next notification names."""
        message = self.target.next("idle_timeout_notification")
        if message is None:
            return []
        entries = message.idle_timeout_notification.table_entry
        return [fy.P4TableEntry.decode_entry(entry, self.target.schema)["port"] for entry in entries]


class SilentStation(IdleTest):
    """The silent one is named, the one that may be silent for long is not."""

    def runTest(self) -> None:
        self.entries.add(self.station(1, SOON), self.station(2, NEVER))
        self.target.pass_time(0.06)
        self.assertEqual(self.idle(), [1])


class SendingStation(IdleTest):
    """Each packet starts the time again."""

    def runTest(self) -> None:
        self.needs_own_time()
        self.entries.add(self.station(1, SOON))
        for _ in range(3):
            self.target.pass_time(0.03)
            self.passes(1, from_host(udp(to=IP_OF[2]), HOST[2]), 2)
            self.assertEqual(self.idle(), [])
        self.target.pass_time(0.06)
        self.assertEqual(self.idle(), [1])


class EntryStays(IdleTest):
    """It is the controller's to take a silent station away."""

    def runTest(self) -> None:
        entry = self.station(1, SOON)
        self.entries.add(entry)
        self.target.pass_time(0.06)
        self.assertEqual(self.idle(), [1])
        (kept,) = self.read(entry)
        self.assertEqual(kept.table_entry.idle_timeout_ns, SOON)
        self.entries.delete(entry)
        self.assertEqual(self.read(entry), [])
