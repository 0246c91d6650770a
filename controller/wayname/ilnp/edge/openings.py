"""Peers to which TCP of hosts here opens with a nonce, so that its handshake makes the session.

Who is known to speak ILNP gets one: by the configuration, or by the DNS. Nobody else, since a node that does not know
the nonce drops what bears it (RFC 6744, section 6) and says so; then TCP to it opens without for a while.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from ipaddress import IPv6Address, IPv6Network

from wayname.edge.desired_state import DesiredState
from wayname.ilnp.config import Ilnp, TcpAdmission
from wayname.ilnp.nonce import NONCE_OPTION
from wayname.ilnp.settings import WITHOUT_ILNP_TIME
from wayname.ilnp.vectors import NID
from wayname.pipeline import sessions as entries
from wayname.wire import icmpv6, ipv6
from wayname.wire.errors import DecodeError

# Peers that the DNS told of, and peers that take no nonces: the switch has a place for each of their addresses.
MOST_FOUND = 256
MOST_REFUSING = 256
TCP = 6
POINTER_OCTETS = 4


class Openings:
    """Keeps who takes nonces, in the order of what is known: said no, found, configured."""

    def __init__(self, rules: Ilnp, desired: DesiredState) -> None:
        self._octets = rules.nonce_octets
        self._desired = desired
        self._wanted = any(site.tcp is TcpAdmission.HANDSHAKE for site in rules.sites)
        self._found: dict[NID, frozenset[IPv6Address]] = {}
        self._refusing: OrderedDict[IPv6Address, float] = OrderedDict()
        for prefix in rules.ilnp_prefixes if self._wanted else ():
            desired.put(entries.takes_nonces(prefix, self._octets))

    def found(self, nid: NID, addresses: Iterable[IPv6Address]) -> None:
        """The DNS tells by which addresses a peer speaks ILNP; none: by none."""
        if not self._wanted or (nid not in self._found and len(self._found) >= MOST_FOUND):
            return
        before, now = self._found.get(nid, frozenset()), frozenset(addresses)
        self._found[nid] = now
        for address in before ^ now:
            self._want(address)

    def refused(self, message: icmpv6.Message, now: float) -> IPv6Address | None:
        """Take an error that may be about a SYN with a nonce; return who does not know it.

        Anybody may forge one: then TCP goes on without a nonce, and its session is asked for by messages.
        """
        quoted = message.body[POINTER_OCTETS:]
        options, transport = quoted[ipv6.HEADER_BYTES :], quoted[ipv6.HEADER_BYTES :][:1]
        if len(options) < 8 or quoted[6] != ipv6.DESTINATION_OPTIONS or transport != bytes([TCP]):
            return None
        at = int.from_bytes(message.body[:POINTER_OCTETS])
        if quoted[at : at + 1] != bytes([NONCE_OPTION]):
            raise DecodeError("an ICMPv6 error that says nothing of the nonce option")
        peer = IPv6Address(quoted[24:40])
        self._refusing[peer] = now + WITHOUT_ILNP_TIME
        self._refusing.move_to_end(peer)
        self._want(peer)
        if len(self._refusing) > MOST_REFUSING:
            self._forget()
        return peer

    def next_timer(self) -> float | None:
        """Return when `handle_timer` has to be called at the latest."""
        return next(iter(self._refusing.values()), None)

    def handle_timer(self, now: float) -> None:
        """Try those again that did not know nonces."""
        while (at := self.next_timer()) is not None and at <= now:
            self._forget()

    def _forget(self) -> None:
        peer, _ = self._refusing.popitem(last=False)
        self._want(peer)

    def _want(self, address: IPv6Address) -> None:
        entry = entries.takes_nonces(IPv6Network(address), self._octets)
        if address in self._refusing:
            self._desired.put(entries.takes_none(address))
        elif any(address in addresses for addresses in self._found.values()):
            self._desired.put(entry)
        else:
            self._desired.remove(entry)
