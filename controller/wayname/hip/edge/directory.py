"""HIP records in the DNS (RFC 8005): tells who hosts here are, and asks who is under the names of peers.

The DNS is believed as far as it says which key is under a name; whoever has that key proves it in the exchange.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from ipaddress import IPv6Address

import dns.message
import dns.name
import dns.rdatatype
import dns.update

from wayname.config.names import Names
from wayname.edge.boundary import Severity
from wayname.edge.outputs import Outputs
from wayname.hip.identities import Identity
from wayname.hip.records import Named, make_record, read_record
from wayname.session.directory import FIRST_WATCH, NAME_LIFETIME, Directory
from wayname.session.dns_client import back_off
from wayname.timers import Timers, earliest
from wayname.wire.errors import DecodeError

# A record is asked for again when this part of its lifetime is over; one that has none is believed for a second.
FRESH_PART = 3 / 4
LEAST_LIFETIME = 1.0


@dataclass(frozen=True, slots=True)
class _Peer:
    """Whose record is asked for."""

    address: IPv6Address


class HipDirectory(Directory[Identity, _Peer]):
    """Tells who hosts here are, and who their peers."""

    def __init__(
        self,
        names: Names,
        rng: random.Random,
        outputs: Outputs,
        on_found: Callable[[IPv6Address, list[Named], float], None],
    ) -> None:
        super().__init__(names, rng, outputs)
        self._on_found = on_found
        self._hosts = {node.address: dns.name.from_text(node.name) for node in names.hosts}
        self.peers = {node.address: dns.name.from_text(node.name) for node in names.peers}
        self._sought: set[IPv6Address] = set()
        self._vain: dict[IPv6Address, int] = {}
        self._watches: Timers[IPv6Address] = Timers()
        # The peers whose records may be believed still (section 4.2), and until when.
        self.known: set[IPv6Address] = set()
        self._ends: Timers[IPv6Address] = Timers()

    def publish(self, identities: Mapping[IPv6Address, Identity], now: float) -> None:
        """Tell who the hosts are that have names."""
        for address, name in self._hosts.items():
            self._tell(name, identities[address], now)

    def seek(self, address: IPv6Address, now: float) -> None:
        """Look up who is under the name of a peer, and go on until somebody is."""
        if address not in self._sought:
            self._sought.add(address)
            self._ask(self.peers[address], dns.rdatatype.HIP, _Peer(address), now)

    def next_timer(self) -> float | None:
        """Return when `handle_timer` has to be called at the latest."""
        return earliest((super().next_timer(), self._watches.next(), self._ends.next()))

    def handle_timer(self, now: float) -> None:
        """Send again what was not answered, and ask again who was not there."""
        super().handle_timer(now)
        for address in self._ends.due(now):
            self.known.discard(address)
            text = f"the record of {self.peers[address]} is too old, and the DNS tells of none"
            self._outputs.event(now, "names.outdated", self.peers[address], text, Severity.WARNING)
        for address in self._watches.due(now):
            self.seek(address, now)

    def _update(self, name: dns.name.Name, told: Identity) -> dns.update.UpdateMessage:
        message = dns.update.UpdateMessage(self._zone)
        message.delete(name, dns.rdatatype.HIP)
        message.add(name, NAME_LIFETIME, make_record(told.host))
        return message

    def _in_words(self, told: Identity) -> str:
        return str(told.hit)

    def _take(self, question: _Peer, answer: dns.message.Message | None, now: float) -> None:
        """Take the records of an answer; one whose tag is not its key's is none."""
        address = question.address
        self._sought.discard(address)
        found, lifetime = [], float(NAME_LIFETIME)
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
