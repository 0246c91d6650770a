"""An edge in this process: the embedded switch, and the controller's endpoint of ILNP on its tables.

    provider, port 4  ->  switch  ->  host, port 1
                          |    ^
             punts, digests    entries, packets
                          v    |
                         Endpoint

Time is the experiment's own; what things cost is taken from the machine's clock.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Network
from pathlib import Path

import finsy as fy
import wayname_switch
from finsy.p4schema import P4Schema
from finsy.proto import p4i, p4r

from wayname.ilnp.checksums import addresses_delta, identifiers_delta
from wayname.ilnp.endpoint import Endpoint
from wayname.ilnp.locators import Host, LocalLocator
from wayname.ilnp.outputs import Gone, Send, Session, Up
from wayname.ilnp.settings import Settings
from wayname.ilnp.vectors import L64, NID, Vector
from wayname.p4_constants import CPU_PORT, CPU_SESSION, HostProtocols, Punt, SessionMode
from wayname.pipeline import entries, sessions
from wayname.wire.ipv6 import Packet
from wayname.wire.mac import Mac

MAIN = Path(__file__).resolve().parents[2] / "p4src" / "v1model" / "main.p4"
NANOSECONDS = 1_000_000_000
BEGIN = 1000.0
SUBMIT = 2
ETHERTYPE = b"\x86\xdd"
HOST_PORT, HOST_VLAN, HOST_MAC = 1, 1, Mac.parse("02:00:00:00:00:11")
PROVIDER_PORT, PROVIDER_VLAN, PROVIDER_MAC = 4, 100, Mac.parse("02:99:00:00:00:0a")
ROUTER = {HOST_VLAN: Mac.parse("02:ed:9e:00:00:01"), PROVIDER_VLAN: Mac.parse("02:ed:9e:00:01:00")}
ADDRESS = {HOST_VLAN: IPv6Address("2001:db8:1::1"), PROVIDER_VLAN: IPv6Address("2001:db8:a::2")}
LAN = IPv6Network("2001:db8:1::/64")
HOST = Vector.of(IPv6Address("2001:db8:1::11"))
PEERS_LOCATOR = L64(0x20010DB80F000000)
FIRST_PEER = 0x10000
FROM_PROVIDER = ROUTER[PROVIDER_VLAN].packed + PROVIDER_MAC.packed + ETHERTYPE
FROM_HOST = ROUTER[HOST_VLAN].packed + HOST_MAC.packed + ETHERTYPE

# A datagram of somebody who speaks no ILNP.
ORDINARY = (
    FROM_PROVIDER
    + bytes([0x60, 0, 0, 0, 0, 32, 17, 64])
    + Vector(PEERS_LOCATOR, NID(5)).address.packed
    + HOST.address.packed
    + bytes.fromhex("03e807d000201234")
    + bytes(24)
)


@dataclass(slots=True)
class Spent:
    """Where the time of admissions went, in seconds."""

    switch: float = 0.0
    endpoint: float = 0.0
    entries: float = 0.0
    writing: float = 0.0


class Edge:
    """A site of one host that knows nothing of ILNP."""

    def __init__(self, seed: int = 1, naive: bool = False) -> None:
        self.switch = wayname_switch.Switch(wayname_switch.device_config(str(MAIN)), cpu_port=CPU_PORT)
        self.schema = P4Schema(p4i.P4Info.FromString(self.switch.p4info()))
        self.now = BEGIN
        self.endpoint = Endpoint(random.Random(seed), self.now, Settings(naive=naive))
        self.endpoint.serve(Host(HOST.nid, (LocalLocator(HOST.locator),)), self.now)
        self.numbers: dict[object, int] = {}
        self.spent = Spent()
        protocols = HostProtocols.ILNP | (HostProtocols.NAIVE if naive else HostProtocols(0))
        self.write(_site(protocols))
        keys = random.Random(seed)
        self.write([entries.hash_keys(keys.getrandbits(128), keys.getrandbits(128))], p4r.Update.MODIFY)

    def write(self, wanted: Iterable[entries.Entity], kind: p4r.Update.Type.ValueType = p4r.Update.INSERT) -> None:
        """Write entries; all must be taken."""
        began = time.thread_time()
        updates = [p4r.Update(type=kind, entity=entity.encode(self.schema)) for entity in wanted]
        request = p4r.WriteRequest(updates=updates).SerializeToString()
        encoded = time.thread_time()
        statuses = self.switch.write(request, round(self.now * NANOSECONDS))
        self.spent.entries += encoded - began
        self.spent.writing += time.thread_time() - encoded
        refused = [message for code, message in statuses if code]
        if refused:
            raise RuntimeError(f"the switch refuses an entry: {refused[0]}")

    def take(self, frame: bytes) -> list[Packet]:
        """Let a frame come from the provider; return what leaves to it because of that."""
        began = time.thread_time()
        outputs = self.switch.inject(PROVIDER_PORT, frame, round(self.now * NANOSECONDS))
        self.spent.switch += time.thread_time() - began
        leaves = [Packet.decode(output.packet[14:]) for output in outputs if output.port == PROVIDER_PORT]
        for text in self.switch.packets_in():
            message = p4r.PacketIn.FromString(text)
            reason = next(int.from_bytes(field.value) for field in message.metadata if field.metadata_id == 1)
            if reason in (Punt.SESSION_REQUEST, Punt.LOCATOR_UPDATE, Punt.NONCE_UNKNOWN):
                leaves += self._control(Packet.decode(message.payload[14:]))
        return leaves

    def _control(self, packet: Packet) -> list[Packet]:
        """Let the endpoint take a packet, and do what it says."""
        began = time.thread_time()
        self.endpoint.receive(packet, self.now)
        outputs = self.endpoint.take_outputs()
        self.spent.endpoint += time.thread_time() - began
        leaves: list[Packet] = []
        for output in outputs:
            match output:
                case Send(packet):
                    leaves += self._submit(packet)
                case Up(session):
                    number = len(self.numbers) + 1
                    self.numbers[session.names] = number
                    self.write(session_entries(session, number))
                case Gone(names):
                    raise RuntimeError(f"a session was lost: {names}")
        return leaves

    def _submit(self, packet: Packet) -> list[Packet]:
        """Let a packet of the endpoint go out as if its host had sent it."""
        began = time.thread_time()
        message = fy.P4PacketOut(FROM_HOST + packet.encode(), kind=SUBMIT, port=HOST_PORT, vlan=0)
        request = message.encode_update(self.schema).packet.SerializeToString()
        outputs = self.switch.packet_out(request, round(self.now * NANOSECONDS))
        self.spent.switch += time.thread_time() - began
        return [Packet.decode(output.packet[14:]) for output in outputs if output.port == PROVIDER_PORT]


class Peer:
    """A far host with ILNP: the same endpoint, without a switch."""

    def __init__(self, number: int, seed: int) -> None:
        self.vector = Vector(PEERS_LOCATOR, NID(FIRST_PEER + number))
        self.endpoint = Endpoint(random.Random(seed), BEGIN)
        self.endpoint.serve(Host(self.vector.nid, (LocalLocator(PEERS_LOCATOR),)), BEGIN)
        self.session: Session | None = None

    def connect(self, edge: Edge) -> float:
        """Ask for a session with the host; return how long the edge worked on it, in processor seconds."""
        self.endpoint.connect(self.vector, HOST, edge.now)
        worked = 0.0
        waiting = self._leaves()
        while waiting:
            frames = [FROM_PROVIDER + packet.encode() for packet in waiting]
            began = time.thread_time()
            answers = [answer for frame in frames for answer in edge.take(frame)]
            worked += time.thread_time() - began
            for answer in answers:
                self.endpoint.receive(answer, edge.now)
            waiting = self._leaves()
        return worked

    def _leaves(self) -> list[Packet]:
        packets: list[Packet] = []
        for output in self.endpoint.take_outputs():
            match output:
                case Send(packet):
                    packets.append(packet)
                case Up(session):
                    self.session = session
        return packets


def resident() -> int:
    """Return how many octets of memory this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def session_entries(session: Session, number: int) -> list[fy.P4TableEntry]:
    """All that the tables hold of a session."""
    local, peer = session.local_identity, session.peer_identity
    source, destination = (
        Vector(session.source, session.names.local).address,
        Vector(session.destination, session.names.peer).address,
    )
    there, back = identifiers_delta(local, peer), addresses_delta(local, peer)
    return [
        sessions.identities(local, peer, number, 0, 1, 0, 0, SessionMode.ILNP, 0),
        sessions.ilnp_nonce(local, peer, session.nonce_from_peer, number, back),
        sessions.path_ilnp(number, 0, source, destination, session.nonce_to_peer, there, 0),
        sessions.locator_pair(number, destination, source, 0),
    ]


def _site(protocols: HostProtocols) -> list[entries.Entity]:
    wanted: list[entries.Entity] = [
        fy.P4CloneSessionEntry(CPU_SESSION, replicas=(CPU_PORT,)),
        entries.fdb_entry(HOST_VLAN, HOST_MAC, HOST_PORT),
        entries.route_connected(LAN, HOST_VLAN),
        entries.neighbour(HOST_VLAN, HOST.address, HOST_PORT, HOST_MAC),
        entries.route_nexthop(IPv6Network("::/0"), 1),
        entries.nexthop(1, PROVIDER_VLAN, IPv6Address("fe80::a1")),
        entries.neighbour(PROVIDER_VLAN, IPv6Address("fe80::a1"), PROVIDER_PORT, PROVIDER_MAC),
        *sessions.endpoint_policy(LAN, 0, 0.0, protocols),
    ]
    for number, vlan in ((HOST_PORT, HOST_VLAN), (PROVIDER_PORT, PROVIDER_VLAN)):
        wanted += [
            entries.port(number, vlan),
            entries.vlan_member(number, vlan),
            entries.vlan_tag(number, vlan, False),
            entries.interface(vlan, ROUTER[vlan], ADDRESS[vlan]),
            entries.source_mac(vlan, ROUTER[vlan]),
        ]
    return wanted


def attack(rng: random.Random) -> Callable[[], bytes]:
    """Return what makes the packets of an attacker: UDP, a nonce, a random identifier; 102 octets, as the paper's."""
    nonce_header = bytes([17, 1, 0x8B, 12])
    datagram = (1000).to_bytes(2) + (2000).to_bytes(2) + (32).to_bytes(2) + b"\x12\x34" + bytes(24)
    start = bytes([0x60, 0, 0, 0, 0, 16 + len(datagram), 60, 64]) + PEERS_LOCATOR.to_bytes(8)
    host = HOST.address.packed

    def frame() -> bytes:
        return b"".join((FROM_PROVIDER, start, rng.randbytes(8), host, nonce_header, rng.randbytes(12), datagram))

    return frame
