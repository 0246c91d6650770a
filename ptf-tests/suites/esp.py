"""ESP of hosts that speak HIP themselves: sessions by their SPIs, other locators, nothing put on (RFC 7402)."""

from dataclasses import replace

from carriers import hop_less, ipv6
from esp_site import (
    ESP,
    INWARD,
    LOCATORS,
    OUR_HIT,
    OUR_SPI,
    OUTWARD,
    PEERS_HIT,
    PEERS_SPI,
    PORTS,
    SEALED,
    EspSession,
    came_by,
    esp,
    sent_by,
    spi,
)
from session_site import LOCAL, LOCAL_2, REMOTE, REMOTE_2, from_host, in_by, out_by, to_host
from shim6_layers import NO_NEXT_HEADER

from harness.edge_test import EdgeTest

LONG = 2**32 - 1


class EspTest(EdgeTest):
    """A test with a session whose host encrypts."""

    session = EspSession(generation=0)

    def setUp(self) -> None:
        """Set it up."""
        super().setUp()
        self.hold(self.session.entries())

    def be(self, session: EspSession) -> None:
        """Let the session be as this, and no other way."""
        entry = session.identities()
        self.entries.modify(self.entries.entry(entry.table, entry.keys, entry.action, **entry.parameters))

    def goes(self, path: int, packet: bytes = OUTWARD) -> None:
        """A packet of the host goes by this path."""
        self.passes(1, from_host(packet), PORTS[path], out_by(PORTS[path], hop_less(sent_by(path, packet))))

    def comes(self, path: int, packet: bytes = INWARD) -> None:
        """A packet of the peer comes by this path, and reaches the host as it is."""
        came = came_by(path, packet)
        self.passes(PORTS[path], in_by(PORTS[path], came), 1, to_host(hop_less(came)))


class ByEachPath(EspTest):
    """A write with a new generation moves it, wherever the host sends to; each path is counted."""

    def runTest(self) -> None:
        for generation, path in ((1, 1), (2, 0), (3, 1), (0, 0)):
            self.be(replace(self.session, path=path, generation=generation))
            self.goes(path)
            self.goes(path, esp(LOCAL_2, REMOTE_2, PEERS_SPI))
        for path in LOCATORS:
            self.assertEqual(self.entry_counter("paths", session=self.session.number, path=path)[0], 4)


class FromEachPath(EspTest):
    """It reaches the host as it is; each path is counted."""

    def runTest(self) -> None:
        for path, (here, there) in LOCATORS.items():
            self.comes(path)
            keys = {"session": self.session.number, "source": there, "destination": here}
            self.assertEqual(self.entry_counter("locator_pairs", **keys)[0], 1)


class Unproven(EspTest):
    """An SPI that somebody saw is worth nothing with locators of his own."""

    def runTest(self) -> None:
        for source, destination in (("2001:db8:bad::1", LOCAL), (REMOTE, LOCAL_2), (REMOTE_2, LOCAL)):
            self.drops(4, in_by(4, esp(source, destination, OUR_SPI)), "DROP_ESP_LOCATORS")


class Rekey(EspTest):
    """The new SPI beside the old one, then in its place."""

    def runTest(self) -> None:
        self.be(replace(self.session, path=1, generation=11))
        old, new = spi(REMOTE, PEERS_SPI), spi(REMOTE, 0x5555)
        self.goes(1)
        packet = esp(LOCAL, REMOTE, 0x5555)
        self.passes(1, from_host(packet), 4, out_by(4, hop_less(packet)))
        self.hold([new])
        self.goes(1)
        self.goes(1, packet)
        self.entries.delete(self.entries.entry(old.table, old.keys, old.action, **old.parameters))
        self.goes(1, packet)
        self.passes(1, from_host(OUTWARD), 4, out_by(4, hop_less(OUTWARD)))


class OfNone(EspTest):
    """SPIs that nobody knows pass, either way."""

    def runTest(self) -> None:
        packet = esp(LOCAL, REMOTE, OUR_SPI)
        self.passes(1, from_host(packet), 4, out_by(4, hop_less(packet)))
        packet = esp(REMOTE, LOCAL, PEERS_SPI)
        self.passes(4, in_by(4, packet), 1, to_host(hop_less(packet)))


class Short(EspTest):
    """Less than an SPI and a sequence number, of or for such a host."""

    def runTest(self) -> None:
        header = PEERS_SPI.to_bytes(4) + bytes(4)
        for octets in (0, 4, 7):
            self.drops(1, from_host(ipv6(ESP, header[:octets], LOCAL, REMOTE)), "DROP_ESP_SHORT")
            self.drops(4, in_by(4, ipv6(ESP, header[:octets], REMOTE, LOCAL)), "DROP_ESP_SHORT")
        passing = ipv6(ESP, header[:7], "2001:db8:99::1", REMOTE)
        self.passes(1, from_host(passing), 4, out_by(4, hop_less(passing)))


class WholeMtu(EspTest):
    """Nothing is put on, so that a path holds what its links hold."""

    def runTest(self) -> None:
        self.be(replace(self.session, path=1, generation=12))
        body = PEERS_SPI.to_bytes(4) + bytes(4) + SEALED
        self.goes(1, ipv6(ESP, body + bytes(1280 - 40 - len(body)), LOCAL, REMOTE))


class LeavesPath(EspTest):
    """Unanswered, the packet itself goes by the backup; what is heard answers."""

    session = EspSession(number=61, generation=0)

    def runTest(self) -> None:
        self.hold([self.session.backup()])
        self.be(replace(self.session, generation=1, send_timeout=LONG))
        self.goes(0)
        self.comes(0)
        self.goes(0)
        self.be(replace(self.session, generation=1, send_timeout=1))
        self.goes(1)
        self.comes(1)
        self.be(replace(self.session, generation=1, send_timeout=LONG))
        self.goes(1)


class Asked(EspTest):
    """The controller asks by the HITs, since it can make no ESP."""

    def runTest(self) -> None:
        asked = from_host(ipv6(NO_NEXT_HEADER, b"", OUR_HIT, PEERS_HIT))
        self.verify([self.out("CHECK", asked, 1)], dropped={"DROP_CHECKED": 1})
