"""One session on the edge of small_site.py: the first host and a far one, each with two locators.

path 0      plain                           the first provider
path 1      LOCAL_1 -> REMOTE_1, header     the first provider
path 2      LOCAL_2 -> REMOTE_2, header     the second provider, backup of 0 and 1
"""

from collections.abc import Iterator
from dataclasses import dataclass

from carriers import octets
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw
from shim6_layers import SHIM6, Shim6Payload

from small_site import FAR, HOST, IP_OF, PROVIDER, ROUTER, Entry
from wayname.p4_constants import HostProtocols, SessionMode

LOCAL, REMOTE = IP_OF[1], FAR
LOCAL_1, REMOTE_1 = "2001:db8:1:a::11", "2001:db8:f01::1"
LOCAL_2, REMOTE_2 = "2001:db8:1:b::11", "2001:db8:e00::1"
SESSION, OUR_TAG, PEERS_TAG = 7, 0x1234_5678_9ABC, 0x7FED_CBA9_8765
SEND_TIMEOUT, KEEPALIVE = 300_000, 100_000
REPORT, FOLLOW, HOLD = SessionMode.REPORT, SessionMode.FOLLOW, SessionMode.HOLD
SHIM6_SPOKEN, ILNP_SPOKEN = HostProtocols.SHIM6, HostProtocols.ILNP
HOSTS_PREFIX = "2001:db8:1::/48"
LOCATORS = {0: (LOCAL, REMOTE), 1: (LOCAL_1, REMOTE_1), 2: (LOCAL_2, REMOTE_2)}
PORTS = {0: 4, 1: 4, 2: 5}


def endpoint_policy(action: str = "proxy", prefix: str = HOSTS_PREFIX, **parameters: int | str) -> Iterator[Entry]:
    if action == "proxy":
        parameters = {"bytes": 0, "time": 0, "protocols": SHIM6_SPOKEN, **parameters}
    yield Entry("endpoint_policy_sources", {"source": prefix}, action, parameters)
    yield Entry("endpoint_policy_destinations", {"destination": prefix}, action, parameters)


@dataclass(frozen=True)
class Session:
    """What the tables hold of it. Registers outlive tests: there each takes a number or a generation of its own."""

    number: int = SESSION
    path: int = 0
    generation: int = 1
    ecmp_paths: int = 0
    mode: int = 0
    watched: bool = True
    send_timeout: int = SEND_TIMEOUT
    keepalive: int = KEEPALIVE

    def identities(self) -> Entry:
        chosen = {"session": self.number, "path": self.path, "generation": self.generation}
        timers = (self.send_timeout, self.keepalive) if self.watched else (0, 0)
        rest = {"ecmp_paths": self.ecmp_paths, "send_timeout": timers[0], "keepalive": timers[1], "mode": self.mode}
        return Entry("identities", {"local": LOCAL, "remote": REMOTE}, "send_in_session", {**chosen, **rest})

    def backup(self, path: int, to: int) -> Entry:
        return Entry("backups", {"session": self.number, "path": path}, "next_path", {"path": to})

    def entries(self) -> Iterator[Entry]:
        yield from endpoint_policy()
        yield self.identities()
        admit: dict[str, int | str] = {"session": self.number, "local": LOCAL, "remote": REMOTE}
        yield Entry("context_tags", {"tag": OUR_TAG}, "admit", admit)
        yield Entry("paths", {"session": self.number, "path": 0}, "send_plain", {"vrf": 0})
        for path in (1, 2):
            source, destination = LOCATORS[path]
            bears: dict[str, int | str] = {"source": source, "destination": destination, "tag": PEERS_TAG}
            yield Entry("paths", {"session": self.number, "path": path}, "send_shim6", bears | {"vrf": 0})
        for path, (here, there) in LOCATORS.items():
            came: dict[str, int | str] = {"session": self.number, "source": there, "destination": here}
            yield Entry("locator_pairs", came, "on_path", {"path": path})


def between(packet: bytes, source: str, destination: str) -> bytes:
    """The packet with other addresses; no checksum changes."""
    return packet[:8] + octets(source) + octets(destination) + packet[40:]


def with_header(packet: bytes, tag: int, at: int = 40, said: int = 6) -> bytes:
    """The packet with a payload header at this octet; the octet before it that says what follows is `said`."""
    header = bytes(Shim6Payload(nh=packet[said], tag=tag))
    packet = packet[:said] + bytes([SHIM6]) + packet[said + 1 :]
    return packet[:4] + (len(packet) - 40 + 8).to_bytes(2) + packet[6:at] + header + packet[at:]


def sent_by(path: int, packet: bytes, at: int = 40, said: int = 6) -> bytes:
    """A host's packet as it goes by a path."""
    return packet if path == 0 else with_header(between(packet, *LOCATORS[path]), PEERS_TAG, at, said)


def came_by(path: int, packet: bytes, at: int = 40, said: int = 6, tag: int = OUR_TAG) -> bytes:
    """The peer's packet as it comes by a path."""
    here, there = LOCATORS[path]
    return packet if path == 0 else with_header(between(packet, there, here), tag, at, said)


def out_by(port: int, packet: bytes) -> Packet:
    """As it leaves for a provider."""
    vlan = {4: 100, 5: 200}[port]
    frame: Packet = Ether(src=ROUTER[vlan], dst=PROVIDER[port], type=0x86DD) / Raw(packet)
    return frame


def in_by(port: int, packet: bytes) -> Packet:
    """As it comes from a provider."""
    vlan = {4: 100, 5: 200}[port]
    frame: Packet = Ether(src=PROVIDER[port], dst=ROUTER[vlan], type=0x86DD) / Raw(packet)
    return frame


def from_host(packet: bytes) -> Packet:
    """As it comes from the first host."""
    frame: Packet = Ether(src=HOST[1], dst=ROUTER[1], type=0x86DD) / Raw(packet)
    return frame


def to_host(packet: bytes) -> Packet:
    """As it reaches the first host."""
    frame: Packet = Ether(src=ROUTER[1], dst=HOST[1], type=0x86DD) / Raw(packet)
    return frame
