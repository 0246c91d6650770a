"""Hosts elsewhere that begin something with hosts of site a again and again: who is admitted while it is flooded?

python -m bench.attacks.guests SOCKET SEED      commands come in as JSON lines, answers go out

So many attempts a second of each kind, whatever became of those before: each by a guest that was never here. Some come
to the edge by the first provider, where attackers are too, some by the second.
"""

from __future__ import annotations

import json
import random
import select
import socket
import sys
import time
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Iterable
from ipaddress import IPv6Address, IPv6Network
from pathlib import Path
from typing import Any

from bench.attacks.packets import ACK, RST, SYN, echo_request, flags_of, segment, segment_of_ilnp
from bench.attacks.ports import BORDER_PORT, ILNP_PORT
from bench.attacks.site import FRESH, HIP_GUESTS, PROVIDERS, A, guest_name, hip_guest, locator
from wayname.hip.association import LocalHost as HipHost
from wayname.hip.association import Names
from wayname.hip.endpoint import Endpoint as HipEndpoint
from wayname.hip.outputs import Up as HipUp
from wayname.hip.settings import Settings
from wayname.identity.generate import generate_hba
from wayname.identity.parameters import MODIFIER_OCTETS
from wayname.ilnp.endpoint import Endpoint as IlnpEndpoint
from wayname.ilnp.locators import Host, LocalLocator
from wayname.ilnp.outputs import Up as IlnpUp
from wayname.ilnp.vectors import L64, NID, Vector
from wayname.outbox import Send
from wayname.session.keys import Pair, SessionKey
from wayname.shim6.context import LocalHost
from wayname.shim6.endpoint import Endpoint
from wayname.shim6.locators import learn, tell
from wayname.shim6.outputs import Ready
from wayname.wire import icmpv6
from wayname.wire.ipv6 import ICMPV6, Packet
from wayname_lab.hip.identities import identity_of_host

LONGEST = 16384
TURN_MS = 5
# How long an attempt may take.
PATIENCE = 2.0


class Kind(ABC):
    """A kind of attempts, so many a second."""

    what: str
    rate: float

    def __init__(self, rng: random.Random, provider: str) -> None:
        self.rng = rng
        self.provider = provider
        self.name = f"{self.what} by {provider}"
        self.begun = self.admitted = 0
        self.due = 0.0
        self._waiting: OrderedDict[IPv6Address, tuple[float, Any]] = OrderedDict()

    def turn(self, now: float) -> list[Packet]:
        """Begin what is due, and give up what took too long."""
        while self._waiting and next(iter(self._waiting.values()))[0] < now - PATIENCE:
            self._waiting.popitem(last=False)
        packets: list[Packet] = []
        self.due = max(self.due, now - 1)
        while self.due <= now:
            self.due += 1 / self.rate
            self.begun += 1
            guest, state, more = self.begin(now)
            self._waiting[guest] = (now, state)
            packets += more
        return packets

    def take(self, packet: Packet, now: float) -> list[Packet]:
        """Take a packet for a guest of this kind."""
        if packet.destination not in self._waiting:
            return []
        is_admitted, packets = self.answer(self._waiting[packet.destination][1], packet, now)
        if is_admitted:
            self.admitted += 1
            del self._waiting[packet.destination]
        return packets

    @abstractmethod
    def begin(self, now: float) -> tuple[IPv6Address, Any, list[Packet]]:
        """Begin an attempt: return the guest's address, what is known of it, and its packets."""

    @abstractmethod
    def answer(self, state: Any, packet: Packet, now: float) -> tuple[bool, list[Packet]]:
        """Take a packet; return whether the guest was admitted with it, and what answers it."""

    def address(self, kind: str) -> IPv6Address:
        """Return an address of nobody until now."""
        return IPv6Address(locator(kind, self.provider) << 64 | self.rng.getrandbits(63) | 1)


class Shim6Contexts(Kind):
    """I1, R1, I2, R2 with hosts whose edge speaks Shim6 for them."""

    what, rate = "Shim6 contexts", 6.0
    target = A.host("shim6").address

    def begin(self, now: float) -> tuple[IPv6Address, Any, list[Packet]]:
        """Make a hash-based address, and an endpoint for it alone."""
        guest = hash_based(self.rng, self.provider)
        endpoint = Endpoint(self.rng, lambda name, options, known: learn(name.peer, options, known))
        endpoint.serve(guest, now)
        endpoint.establish(SessionKey(guest.ulid, self.target), now)
        return guest.ulid, endpoint, sent(endpoint.take_outputs())

    def answer(self, state: Any, packet: Packet, now: float) -> tuple[bool, list[Packet]]:
        """Let the endpoint answer."""
        state.receive(packet, now)
        outputs = state.take_outputs()
        return any(isinstance(one, Ready) for one in outputs), sent(outputs)


class HipAssociations(Kind):
    """I1, R1, I2, R2 of HIP with a host whose edge speaks for it."""

    what, rate = "HIP associations", 3.0
    target = A.host("hip")

    def __init__(self, rng: random.Random, provider: str) -> None:
        super().__init__(rng, provider)
        self._identities = [identity_of_host(guest_name(number)) for number in range(HIP_GUESTS)]
        self._hit = identity_of_host(self.target.name).hit

    def begin(self, now: float) -> tuple[IPv6Address, Any, list[Packet]]:
        """Associate one of the guests anew; the edge knows which hosts there are, and where."""
        number = self.begun * len(PROVIDERS) % HIP_GUESTS + PROVIDERS.index(self.provider)
        identity, address = self._identities[number], hip_guest(number)
        endpoint = HipEndpoint(self.rng, Settings(), lambda names, pair: None)
        endpoint.serve(HipHost(identity, (address,)), now)
        endpoint.connect(Names(identity.hit, self._hit), Pair(address, self.target.address), now)
        return address, endpoint, sent(endpoint.take_outputs())

    def answer(self, state: Any, packet: Packet, now: float) -> tuple[bool, list[Packet]]:
        """Let the endpoint answer; it solves the puzzle."""
        state.receive(packet, now)
        outputs = state.take_outputs()
        return any(isinstance(one, HipUp) for one in outputs), sent(outputs)


class IlnpSessions(Kind):
    """The three messages of ILNP's session request."""

    what, rate = "ILNP sessions", 6.0
    target = Vector.of(A.host("ilnp").address)

    def begin(self, now: float) -> tuple[IPv6Address, Any, list[Packet]]:
        """Ask with a new identifier."""
        vector = Vector(L64(locator("ilnp", self.provider)), NID(self.rng.getrandbits(63) | 1))
        endpoint = IlnpEndpoint(self.rng, now)
        endpoint.serve(Host(vector.nid, (LocalLocator(vector.locator),)), now)
        endpoint.connect(vector, self.target, now)
        return vector.address, endpoint, sent(endpoint.take_outputs())

    def answer(self, state: Any, packet: Packet, now: float) -> tuple[bool, list[Packet]]:
        """Let the endpoint answer."""
        state.receive(packet, now)
        outputs = state.take_outputs()
        return any(isinstance(one, IlnpUp) for one in outputs), sent(outputs)


class IlnpConnections(Kind):
    """TCP that opens with a nonce; a SYN without a slot of its own is dropped."""

    what, rate = "ILNP's TCP", 6.0
    target = A.host("ilnp").address

    def begin(self, now: float) -> tuple[IPv6Address, Any, list[Packet]]:
        """Send a SYN with a nonce."""
        guest, nonce = self.address("ilnp"), self.rng.randbytes(12)
        port = self.rng.randrange(1024, 65536)
        return guest, (port, nonce), [segment_of_ilnp(guest, self.target, (port, ILNP_PORT), SYN, nonce)]

    def answer(self, state: Any, packet: Packet, now: float) -> tuple[bool, list[Packet]]:
        """A SYN-ACK shows that the flow has its slot; the connection is reset at once."""
        port, nonce = state
        if flags_of(packet) != SYN | ACK:
            return False, []
        return True, [segment_of_ilnp(packet.destination, self.target, (port, ILNP_PORT), RST, nonce, 1)]


class BorderConnections(Kind):
    """TCP to a host behind the border, by a provider's prefix."""

    what, rate = "TCP by the border", 6.0

    def begin(self, now: float) -> tuple[IPv6Address, Any, list[Packet]]:
        """Send a SYN."""
        guest, port = self.address("none"), self.rng.randrange(1024, 65536)
        to = A.outside(A.host("border"), self.provider)
        return guest, (to, port), [segment(guest, to, (port, BORDER_PORT), SYN)]

    def answer(self, state: Any, packet: Packet, now: float) -> tuple[bool, list[Packet]]:
        """A SYN-ACK from the address that was asked for is what the guest wanted."""
        to, port = state
        if packet.source != to or flags_of(packet) != SYN | ACK:
            return False, []
        return True, [segment(packet.destination, to, (port, BORDER_PORT), RST, 1)]


class NewNeighbours(Kind):
    """Pings to addresses on the LAN that the edge has to ask for first."""

    what, rate = "new neighbours", 6.0
    _subnets = A.subnets("plain")

    def begin(self, now: float) -> tuple[IPv6Address, Any, list[Packet]]:
        """Ping an address that nobody asked for before."""
        guest = self.address("none")
        to = self._subnets[PROVIDERS.index(self.provider)][FRESH | self.rng.getrandbits(48)]
        return guest, None, [echo_request(guest, to)]

    def answer(self, state: Any, packet: Packet, now: float) -> tuple[bool, list[Packet]]:
        """An echo reply is what the guest wanted."""
        return packet.next_header == ICMPV6 and packet.payload[0] == icmpv6.ECHO_REPLY, []


KINDS: tuple[type[Kind], ...] = (
    Shim6Contexts,
    HipAssociations,
    IlnpSessions,
    IlnpConnections,
    BorderConnections,
    NewNeighbours,
)


class Guests:
    """All guests, at their wire."""

    def __init__(self, path: Path, seed: int) -> None:
        self._rng = random.Random(seed)
        self._kinds = [kind(self._rng, provider) for kind in KINDS for provider in PROVIDERS]
        self._expected = Endpoint(self._rng, lambda name, options, known: learn(name.peer, options, known))
        self._wire = _listen(path)
        self._began = False

    def run(self) -> None:
        """Do what commands say until there are no more."""
        poll = select.poll()
        poll.register(sys.stdin, select.POLLIN)
        poll.register(self._wire, select.POLLIN)
        while True:
            ready = [descriptor for descriptor, _ in poll.poll(TURN_MS)]
            now = time.monotonic()
            if sys.stdin.fileno() in ready:
                line = sys.stdin.readline()
                if not line:
                    return
                self._command(json.loads(line), now)
            if self._wire.fileno() in ready:
                self._take(now)
            if self._began:
                for kind in self._kinds:
                    self._send(kind.turn(now))

    def _command(self, command: dict[str, Any], now: float) -> None:
        match command["do"]:
            case "begin":
                self._began = True
                _answer(began=True)
            case "counts":
                _answer(**{kind.name: [kind.begun, kind.admitted] for kind in self._kinds})
            case "expect":
                hosts = [hash_based(self._rng, PROVIDERS[0]) for _ in range(command["count"])]
                for host in hosts:
                    self._expected.serve(host, now)
                _answer(addresses=[str(host.ulid) for host in hosts])

    def _take(self, now: float) -> None:
        while True:
            try:
                octets = self._wire.recv(LONGEST)
            except OSError:
                return
            if not octets:
                sys.exit("the world has ended")
            packet = Packet.decode(octets)
            for kind in self._kinds:
                self._send(kind.take(packet, now))
            self._expected.receive(packet, now)
            self._send(sent(self._expected.take_outputs()))

    def _send(self, packets: Iterable[Packet]) -> None:
        for packet in packets:
            try:
                self._wire.send(packet.encode())
            except BlockingIOError:
                return


def hash_based(rng: random.Random, provider: str) -> LocalHost:
    """Return a guest whose only locator proves itself."""
    prefix = IPv6Network((locator("shim6", provider) << 64, 64))
    [(ulid, parameters)] = generate_hba(
        [prefix], None, 0, lambda tail, sec: rng.randbytes(MODIFIER_OCTETS), lambda address: False, rng
    )
    return tell(ulid, parameters, [ulid], 1)


def sent(outputs: Iterable[object]) -> list[Packet]:
    """Return the packets among what an endpoint says."""
    return [output.packet for output in outputs if isinstance(output, Send)]


def _listen(path: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(str(path))
    listener.listen(1)
    wire, _ = listener.accept()
    wire.setblocking(False)
    return wire


def _answer(**what: object) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    Guests(Path(sys.argv[1]), int(sys.argv[2])).run()
