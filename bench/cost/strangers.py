"""Hosts of the Internet that ask the edge's host for a session, each once: what they send, and what ends the set-up."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from ipaddress import IPv6Address, IPv6Network

from bench.cost.edge import HOSTS
from bench.shim6.identities import hash_based
from wayname.ilnp.endpoint import Endpoint as IlnpEndpoint
from wayname.ilnp.locators import Host, LocalLocator
from wayname.ilnp.outputs import Send as IlnpSend
from wayname.ilnp.outputs import Up
from wayname.ilnp.vectors import Vector
from wayname.shim6.context import LocalHost, option_of
from wayname.shim6.messages import I1, I2, R1, R2, TAG_BITS, decode, encode
from wayname.shim6.options import ResponderValidator
from wayname.wire.ipv6 import SHIM6, Packet
from wayname_lab.identities import provable_address

# A site of its own for each: one of 2^32 prefixes of 48 bits, which limits by prefix take for one.
SITES = 0x2A00 << 32


def subnet(site: int, number: int = 0) -> IPv6Network:
    """Return a network of a stranger's site."""
    return IPv6Network((((SITES + site) << 16 | number) << 64, 64))


class Strangers(ABC):
    """The clients of one protocol."""

    name: str
    configuration: str

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

    name = "Shim6"

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        address, parameters = provable_address("server", [IPv6Network(HOSTS)])
        self._server = address
        self.configuration = f"""
[[shim6]]
prefixes = ["{HOSTS}"]
[[shim6.host]]
address = "{address}"
parameters = "{parameters.encode().hex()}"
"""
        self._asking: dict[IPv6Address, tuple[LocalHost, int, int]] = {}
        self._done: list[IPv6Address] = []

    def ask(self, number: int) -> Packet:
        """Return an I1."""
        host = hash_based((subnet(number, 1), subnet(number, 2)), self._rng).host
        tag, nonce = self._rng.getrandbits(TAG_BITS), self._rng.getrandbits(32)
        self._asking[host.ulid] = host, tag, nonce
        return Packet(host.ulid, self._server, SHIM6, encode(I1(tag, nonce)))

    def answer(self, packet: Packet) -> list[Packet]:
        """Return the I2 after an R1."""
        if packet.next_header != SHIM6 or packet.destination not in self._asking:
            return []
        message = decode(packet.payload)
        host, tag, nonce = self._asking[packet.destination]
        if isinstance(message, R2):
            del self._asking[packet.destination]
            self._done.append(packet.destination)
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


class OfIlnp(Strangers):
    """They ask by ICMPv6 (type 160), and confirm."""

    name = "ILNP"

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self._server = Vector.of(IPv6Network(HOSTS)[0x11])
        self.configuration = f"""
[ilnp]
capacity = 1000000
[[ilnp.site]]
prefixes = ["{HOSTS}"]
"""
        self._asking: dict[IPv6Address, IlnpEndpoint] = {}
        self._done: list[IPv6Address] = []

    def ask(self, number: int) -> Packet:
        """Return a request."""
        own = Vector.of(subnet(number)[0x1_0000 + number])
        endpoint = IlnpEndpoint(self._rng, 0.0)
        endpoint.serve(Host(own.nid, (LocalLocator(own.locator),)), 0.0)
        endpoint.connect(own, self._server, 0.0)
        self._asking[own.address] = endpoint
        (packet,) = self._sent(endpoint, own.address)
        return packet

    def answer(self, packet: Packet) -> list[Packet]:
        """Return the confirmation."""
        endpoint = self._asking.get(packet.destination)
        if endpoint is None:
            return []
        endpoint.receive(packet, 0.0)
        return self._sent(endpoint, packet.destination)

    def done(self) -> list[IPv6Address]:
        """Return who has a session."""
        done, self._done = self._done, []
        return done

    def _sent(self, endpoint: IlnpEndpoint, address: IPv6Address) -> list[Packet]:
        outputs = endpoint.take_outputs()
        if any(isinstance(output, Up) for output in outputs):
            del self._asking[address]
            self._done.append(address)
        return [output.packet for output in outputs if isinstance(output, IlnpSend)]


PROTOCOLS: dict[str, type[OfShim6 | OfIlnp]] = {"shim6": OfShim6, "ilnp": OfIlnp}
