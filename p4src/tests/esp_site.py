"""A host that speaks HIP, on the edge of small_site.py, and its session with a far one; both have two locators.

path 0      LOCAL -> REMOTE         the first provider
path 1      LOCAL_2 -> REMOTE_2     the second provider, backup of 0
"""

from collections.abc import Iterator
from dataclasses import dataclass

from carriers import ipv6
from session_site import LOCAL, LOCAL_2, REMOTE, REMOTE_2, between, endpoint_policy

from small_site import HOST, Entry

ESP = 50
OUR_HIT, PEERS_HIT = "2001:20::a", "2001:20::b"
OUR_SPI, PEERS_SPI = 0x1111_2222, 0x3333_4444
ESP_SESSION = 60
LOCATORS = {0: (LOCAL, REMOTE), 1: (LOCAL_2, REMOTE_2)}
PORTS = {0: 4, 1: 5}
SEALED = bytes(range(40))


def esp(source: str, destination: str, spi: int, sequence: int = 1) -> bytes:
    """An ESP packet; who has not the keys sees no more of it."""
    return ipv6(ESP, spi.to_bytes(4) + sequence.to_bytes(4) + SEALED, source, destination)


OUTWARD = esp(LOCAL, REMOTE, PEERS_SPI)
INWARD = esp(REMOTE, LOCAL, OUR_SPI)


def spi(destination: str, number: int) -> Entry:
    """Whose packets these are."""
    hits: dict[str, int | str] = {"local": OUR_HIT, "remote": PEERS_HIT}
    return Entry("spis", {"destination": destination, "spi": number}, "admit_esp", hits)


@dataclass(frozen=True)
class EspSession:
    """What the tables hold of it; unless a test says otherwise, nobody waits for its answers."""

    number: int = ESP_SESSION
    path: int = 0
    generation: int = 1
    ecmp_paths: int = 0
    send_timeout: int = 0
    mode: int = 0
    action: str = "transparent"

    def identities(self) -> Entry:
        chosen: dict[str, int | str] = {"session": self.number, "path": self.path, "generation": self.generation}
        rest = {"ecmp_paths": self.ecmp_paths, "send_timeout": self.send_timeout, "keepalive": 0, "mode": self.mode}
        return Entry("identities", {"local": OUR_HIT, "remote": PEERS_HIT}, "send_in_session", {**chosen, **rest})

    def backup(self) -> Entry:
        return Entry("backups", {"session": self.number, "path": 0}, "next_path", {"path": 1})

    def entries(self) -> Iterator[Entry]:
        yield Entry("routes", {"destination": "2001:db8:1:b::/64"}, "route_connected", {"vlan": 1})
        yield Entry("neighbours", {"vlan": 1, "address": LOCAL_2}, "set_neighbour", {"port": 1, "mac": HOST[1]})
        yield from endpoint_policy(self.action)
        yield self.identities()
        for path, (here, there) in LOCATORS.items():
            yield spi(there, PEERS_SPI)
            yield spi(here, OUR_SPI)
            bears: dict[str, int | str] = {"source": here, "destination": there, "vrf": 0, "spi": PEERS_SPI}
            yield Entry("paths", {"session": self.number, "path": path}, "send_beet", bears)
            came: dict[str, int | str] = {"session": self.number, "source": there, "destination": here}
            yield Entry("locator_pairs", came, "on_path", {"path": path})


def sent_by(path: int, packet: bytes) -> bytes:
    """A host's packet as it goes by a path: with other locators, and nothing else."""
    return between(packet, *LOCATORS[path])


def came_by(path: int, packet: bytes) -> bytes:
    """The peer's packet as it comes by a path."""
    here, there = LOCATORS[path]
    return between(packet, there, here)
