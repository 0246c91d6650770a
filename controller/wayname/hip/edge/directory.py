"""HIP records in the DNS (RFC 8005): tells who hosts here are, and asks who is under the names of peers.

The DNS is believed as far as it says which key is under a name; whoever has that key proves it in the exchange.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from ipaddress import IPv6Address

import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdatatype
import dns.update

from wayname.config.names import Names
from wayname.edge.boundary import DnsResponse, Severity
from wayname.edge.outputs import Outputs
from wayname.hip.identities import Identity
from wayname.hip.records import Named, make_record, read_record
from wayname.session.dns_client import LONGEST_TIMEOUT, TRIES, TRIES_OF_QUESTIONS, DnsClient, back_off
from wayname.timers import Timers, earliest
from wayname.wire.errors import DecodeError

# A peer without a record is looked up again, so that one who is told of later is found.
FIRST_WATCH = 0.5
# How long resolvers may keep a record, in seconds: hosts have their keys for long.
RECORD_LIFETIME = 3600
# A record is asked for again when this part of its lifetime is over; one that has none is believed for a second.
FRESH_PART = 3 / 4
LEAST_LIFETIME = 1.0


@dataclass(frozen=True, slots=True)
class _Peer:
    """Whose record is asked for."""

    address: IPv6Address


@dataclass(slots=True)
class PublishedHost:
    """A host whose record the DNS is to tell."""

    address: IPv6Address
    name: dns.name.Name
    identity: Identity
    is_told: bool = False


class HipDirectory:
    """Sends messages to one server, and takes what it answers."""

    def __init__(
        self,
        names: Names,
        rng: random.Random,
        outputs: Outputs,
        on_found: Callable[[IPv6Address, list[Named], float], None],
    ) -> None:
        self._outputs = outputs
        self._on_found = on_found
        self._zone = dns.name.from_text(names.zone or ".")
        self._hosts = {node.address: dns.name.from_text(node.name) for node in names.hosts}
        self.peers = {node.address: dns.name.from_text(node.name) for node in names.peers}
        self.published: dict[IPv6Address, PublishedHost] = {}
        self._server: DnsClient[PublishedHost | _Peer] = DnsClient(names, rng, outputs)
        self._sought: set[IPv6Address] = set()
        self._vain: dict[IPv6Address, int] = {}
        self._watches: Timers[IPv6Address] = Timers()
        # The peers whose records may be believed still (section 4.2), and until when.
        self.known: set[IPv6Address] = set()
        self._ends: Timers[IPv6Address] = Timers()

    def publish(self, identities: Mapping[IPv6Address, Identity], now: float) -> None:
        """Tell who the hosts are that have names."""
        for address, name in self._hosts.items():
            self.published[address] = published = PublishedHost(address, name, identities[address])
            self._send_update(published, 1, now)

    def seek(self, address: IPv6Address, now: float) -> None:
        """Look up who is under the name of a peer, and go on until somebody is."""
        if address not in self._sought:
            self._sought.add(address)
            message = dns.message.make_query(self.peers[address], dns.rdatatype.HIP, flags=dns.flags.RD)
            self._server.send(message, _Peer(address), 1, now)

    def answered(self, answered: DnsResponse, now: float) -> None:
        """Take what the server says."""
        match self._server.answered(answered, now):
            case (PublishedHost() as published, answer) if answer.rcode() == dns.rcode.NOERROR:
                published.is_told = True
                text = f"the DNS tells of {published.name} now: {published.identity.hit}"
                self._outputs.event(now, "names.updated", published.name, text)
            case (PublishedHost() as published, answer):
                # Saying it again at once would change nothing.
                self._watches.set(published.address, now + LONGEST_TIMEOUT)
                self._untold(published, f"the server says {dns.rcode.to_text(answer.rcode())}", now)
            case (_Peer(address), answer):
                is_good = answer.rcode() == dns.rcode.NOERROR and self._server.is_believed(answer)
                self._take(address, answer if is_good else None, now)

    def next_timer(self) -> float | None:
        """Return when `handle_timer` has to be called at the latest."""
        return earliest((self._server.next_timer(), self._watches.next(), self._ends.next()))

    def handle_timer(self, now: float) -> None:
        """Send again what was not answered, and ask again who was not there."""
        for asked in self._server.silent(now):
            match asked.about:
                case PublishedHost() as published:
                    if asked.tries == TRIES:
                        self._untold(published, "the server does not answer", now)
                    self._send_update(published, asked.tries + 1, now)
                case _Peer() as peer if asked.tries < TRIES_OF_QUESTIONS:
                    self._server.send(asked.message, peer, asked.tries + 1, now)
                case _Peer(address):
                    self._take(address, None, now)
        for address in self._ends.due(now):
            self.known.discard(address)
            text = f"the record of {self.peers[address]} is too old, and the DNS tells of none"
            self._outputs.event(now, "names.outdated", self.peers[address], text, Severity.WARNING)
        for address in self._watches.due(now):
            if address in self.published:
                self._send_update(self.published[address], 1, now)
            else:
                self.seek(address, now)

    def _send_update(self, published: PublishedHost, tries: int, now: float) -> None:
        """Put the host's record in the place of all before (RFC 2136)."""
        message = dns.update.UpdateMessage(self._zone)
        message.delete(published.name, dns.rdatatype.HIP)
        message.add(published.name, RECORD_LIFETIME, make_record(published.identity.host))
        self._server.send(message, published, tries, now)

    def _untold(self, published: PublishedHost, why: str, now: float) -> None:
        text = f"the DNS does not know who {published.name} is: {why}"
        self._outputs.event(now, "names.untold", published.name, text, Severity.WARNING)

    def _take(self, address: IPv6Address, answer: dns.message.Message | None, now: float) -> None:
        """Take the records of an answer; one whose tag is not its key's is none."""
        self._sought.discard(address)
        found, lifetime = [], float(RECORD_LIFETIME)
        for rrset in answer.answer if answer is not None else ():
            if rrset.name == self.peers[address] and rrset.rdtype == dns.rdatatype.HIP:
                lifetime = max(float(rrset.ttl), LEAST_LIFETIME)
                for record in rrset:
                    try:
                        found.append(read_record(record))
                    except DecodeError as wrong:
                        text = f"a HIP record of {rrset.name} is left out: {wrong}"
                        self._outputs.event(now, "names.wrong", rrset.name, text, Severity.WARNING)
        if found:
            self._vain.pop(address, None)
            self.known.add(address)
            self._ends.set(address, now + lifetime)
            self._watches.set(address, now + FRESH_PART * lifetime)
            self._on_found(address, found, now)
        else:
            vain = self._vain[address] = self._vain.get(address, 0) + 1
            self._watches.set(address, now + back_off(FIRST_WATCH, vain - 1))
