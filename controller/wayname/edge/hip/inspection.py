"""Looks at HIP messages that pass between hosts which speak themselves (`verify`).

An R1 proves whose it is; from then on R2, UPDATE, CLOSE and NOTIFY of that host must be signed by it. Initiators may
hide their identity: what they say is let pass until it is known.
"""

from __future__ import annotations

from collections import OrderedDict
from ipaddress import IPv6Address

from wayname.hip.endpoint import BEFORE_HIP
from wayname.hip.errors import MessageError, ProofError
from wayname.hip.messages import Kind, Message, decode, own_octets
from wayname.hip.parameters import HostId
from wayname.hip.proofs import check_r1, check_signature
from wayname.hip.suites import hit_of
from wayname.wire.ipv6 import HIP, Packet

MOST_HOSTS = 10_000


class Inspection:
    """Remembers the keys of hosts; those that were not seen for longest go first."""

    def __init__(self, most: int = MOST_HOSTS) -> None:
        self._most = most
        self._keys: OrderedDict[IPv6Address, HostId] = OrderedDict()

    def key_of(self, hit: IPv6Address) -> HostId | None:
        """Return the key of a host that proved itself."""
        return self._keys.get(hit)

    def check(self, packet: Packet) -> tuple[Message, bytes] | None:
        """Return a message that is its sender's, and its octets; None if nobody can tell yet.

        MessageError is raised if it is malformed, or not its sender's.
        """
        upper = packet.upper_layer(BEFORE_HIP)
        if upper.number != HIP or not upper.is_whole:
            raise MessageError("no whole HIP packet")
        octets = own_octets(upper.data)
        message = decode(octets, packet.source, packet.destination)
        if message.kind is Kind.I1:
            return None
        told = message.find(HostId)
        if told is not None and hit_of(told) != message.sender:
            raise ProofError(f"the identity in it is that of {hit_of(told)}, not of {message.sender}")
        host = told or self._keys.get(message.sender)
        if host is None:
            return None
        if message.kind is Kind.R1:
            check_r1(octets, message, host)
        else:
            check_signature(octets, message, host)
        self.know(host)
        return message, octets

    def know(self, host: HostId) -> None:
        """Remember the key of a host, which proved itself here or to an earlier controller."""
        hit = hit_of(host)
        self._keys[hit] = host
        self._keys.move_to_end(hit)
        if len(self._keys) > self._most:
            self._keys.popitem(last=False)
