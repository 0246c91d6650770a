"""Hosts of the Internet that ask the edge's host for a session, each once: what they send, and what ends the set-up."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from array import array
from ipaddress import IPv6Address, IPv6Network
from pathlib import Path

from bench.cost.edge import HOSTS
from bench.shim6.identities import hash_based
from wayname.hip.association import LocalHost as HipHost
from wayname.hip.association import Names
from wayname.hip.endpoint import Endpoint as HipEndpoint
from wayname.hip.identities import Identity
from wayname.hip.outputs import Up as HipUp
from wayname.hip.settings import Settings
from wayname.identity.key_files import write_key
from wayname.ilnp.config import MOST_SESSIONS
from wayname.ilnp.endpoint import Endpoint as IlnpEndpoint
from wayname.ilnp.locators import Host, LocalLocator
from wayname.ilnp.outputs import Up
from wayname.ilnp.vectors import Vector
from wayname.outbox import Send
from wayname.session.keys import Pair
from wayname.shim6.context import LocalHost, option_of
from wayname.wire.ipv6 import HIP, SHIM6, Packet
from wayname.wire.shim6.messages import I1, I2, R1, R2, Probe, ProbeRecord, ProbeState, decode, encode
from wayname.wire.shim6.options import ResponderValidator
from wayname_lab.hip.identities import identity_of_host
from wayname_lab.identities import provable_address

# A site of its own for each: one of 2^32 prefixes of 48 bits, which limits by prefix take for one.
SITES = 0x2A00 << 32


def subnet(site: int, number: int = 0) -> IPv6Network:
    """Return a network of a stranger's site."""
    return IPv6Network((((SITES + site) << 16 | number) << 64, 64))


class Strangers(ABC):
    """The clients of one protocol."""

    name: str
    rate: float  # set-ups a second, on the edge's clock: as many as it lets in

    @abstractmethod
    def configuration(self, folder: Path) -> str:
        """Return what the edge is configured with; keys that this names are written into a folder."""

    @abstractmethod
    def ask(self, number: int) -> Packet:
        """Return the first packet of a stranger."""

    @abstractmethod
    def answer(self, packet: Packet) -> list[Packet]:
        """Return what a stranger says to a packet of the edge."""

    @abstractmethod
    def done(self) -> list[IPv6Address]:
        """Return who has a session since the last call."""


class OfShim6(Strangers):
    """They prove their locators by HBA."""

    name, rate = "Shim6", 250

    def __init__(self, seed: int, _sessions: int) -> None:
        self._rng = random.Random(seed)
        self._server, self._parameters = provable_address("server", [IPv6Network(HOSTS)])
        self._asking: dict[IPv6Address, tuple[LocalHost, int, int]] = {}
        self._done: list[IPv6Address] = []
        # By the tag that a stranger chose, which has its number in it: the tag that the edge chose.
        self._tags = array("Q")

    def configuration(self, folder: Path) -> str:
        """Speak for a server with a provable address."""
        return f"""
[[shim6]]
prefixes = ["{HOSTS}"]
most = 131071
[[shim6.host]]
address = "{self._server}"
parameters = "{self._parameters.encode().hex()}"
"""

    def ask(self, number: int) -> Packet:
        """Return an I1."""
        host = hash_based((subnet(number, 1), subnet(number, 2)), self._rng).host
        tag, nonce = number, self._rng.getrandbits(32)
        # Who gets no answer asks again as another: there may be more of them than sessions.
        self._tags.extend([0] * (tag + 1 - len(self._tags)))
        self._asking[host.ulid] = host, tag, nonce
        return Packet(host.ulid, self._server, SHIM6, encode(I1(tag, nonce)))

    def answer(self, packet: Packet) -> list[Packet]:
        """Return the I2 after an R1; say of a probe that it came, as a peer does whose context stands."""
        if packet.next_header != SHIM6:
            return []
        message = decode(packet.payload)
        if isinstance(message, Probe):
            pair = Pair(packet.destination, packet.source)
            record = ProbeRecord(pair.local, pair.peer, self._rng.getrandbits(32))
            tag = self._tags[message.tag]
            said = Probe(tag, ProbeState.OPERATIONAL, (record,), message.sent)
            return [Packet(pair.local, pair.peer, SHIM6, encode(said))]
        if packet.destination not in self._asking:
            return []
        host, tag, nonce = self._asking[packet.destination]
        if isinstance(message, R2):
            del self._asking[packet.destination]
            self._done.append(packet.destination)
            self._tags[tag] = message.tag
        if not isinstance(message, R1):
            return []
        validator = option_of(message.options, ResponderValidator)
        assert validator is not None
        i2 = I2(tag, nonce, message.responder_nonce, (validator, *host.options))
        return [Packet(host.ulid, self._server, SHIM6, encode(i2))]

    def done(self) -> list[IPv6Address]:
        """Return who got an R2."""
        done, self._done = self._done, []
        return done


class WithEndpoints(Strangers):
    """Strangers each of whom has an endpoint of its own while it asks."""

    def __init__(self) -> None:
        self._asking: dict[IPv6Address, IlnpEndpoint | HipEndpoint] = {}
        self._done: list[IPv6Address] = []

    def answer(self, packet: Packet) -> list[Packet]:
        """Return what the stranger's endpoint says."""
        endpoint = self._asking.get(packet.destination)
        if endpoint is None:
            return []
        endpoint.receive(packet, 0.0)
        return self._sent(endpoint, packet.destination)

    def done(self) -> list[IPv6Address]:
        """Return who has a session."""
        done, self._done = self._done, []
        return done

    def _first(self, endpoint: IlnpEndpoint | HipEndpoint, address: IPv6Address) -> Packet:
        self._asking[address] = endpoint
        (packet,) = self._sent(endpoint, address)
        return packet

    def _sent(self, endpoint: IlnpEndpoint | HipEndpoint, address: IPv6Address) -> list[Packet]:
        outputs = endpoint.take_outputs()
        if any(isinstance(output, Up | HipUp) for output in outputs):
            del self._asking[address]
            self._done.append(address)
        return [output.packet for output in outputs if isinstance(output, Send)]


class OfIlnp(WithEndpoints):
    """They ask by ICMPv6 (type 160), and confirm."""

    name, rate = "ILNP", 250

    def __init__(self, seed: int, _sessions: int) -> None:
        super().__init__()
        self._rng = random.Random(seed)
        self._server = Vector.of(IPv6Network(HOSTS)[0x11])

    def configuration(self, folder: Path) -> str:
        """Speak for all hosts."""
        return f"""
[ilnp]
capacity = {MOST_SESSIONS}
[ilnp.admission]
count = {MOST_SESSIONS}
resources = 1.0
[[ilnp.site]]
prefixes = ["{HOSTS}"]
"""

    def ask(self, number: int) -> Packet:
        """Return a request."""
        own = Vector.of(subnet(number)[0x1_0000 + number])
        endpoint = IlnpEndpoint(self._rng, 0.0)
        endpoint.serve(Host(own.nid, (LocalLocator(own.locator),)), 0.0)
        endpoint.connect(own, self._server, 0.0)
        return self._first(endpoint, own.address)


class OfHip(WithEndpoints):
    """They make base exchanges, each with a key of its own: an edge associates nobody whose tag nobody told it."""

    # An edge looks at so many exchanges a second: what is dear is done for no more.
    name, rate = "HIP", 40

    def __init__(self, seed: int, sessions: int) -> None:
        super().__init__()
        self._rng = random.Random(seed)
        self._identity = identity_of_host("server")
        self._server = IPv6Network(HOSTS)[0x11]
        self._sessions = sessions

    def configuration(self, folder: Path) -> str:
        """Speak for a server, and know all strangers by their tags."""
        write_key(folder / "server.pem", self._identity.key)
        peers = "".join(
            f'[[hip.peer]]\naddress = "{_hip_address(number)}"\nhit = "{_hip_stranger(number).hit}"\n'
            # Who gets no answer asks again as another.
            for number in range(1, self._sessions + self._sessions // 10 + 2)
        )
        return f"""
[hip]
proxy = ["{HOSTS}"]
[[hip.host]]
address = "{self._server}"
key = "{folder}/server.pem"
{peers}"""

    def ask(self, number: int) -> Packet:
        """Return an I1."""
        address, identity = _hip_address(number), _hip_stranger(number)
        endpoint = HipEndpoint(self._rng, Settings(), lambda names, pair: None)
        endpoint.serve(HipHost(identity, (address,)), 0.0)
        endpoint.connect(Names(identity.hit, self._identity.hit), Pair(address, self._server), 0.0)
        return self._first(endpoint, address)

    def answer(self, packet: Packet) -> list[Packet]:
        """Return what an initiator says; the edge's probes it leaves alone."""
        return super().answer(packet) if packet.next_header == HIP else []


def _hip_address(number: int) -> IPv6Address:
    return subnet(number)[0x22]


def _hip_stranger(number: int) -> Identity:
    return identity_of_host(f"stranger {number}")


PROTOCOLS: dict[str, type[OfShim6 | OfIlnp | OfHip]] = {"shim6": OfShim6, "ilnp": OfIlnp, "hip": OfHip}
