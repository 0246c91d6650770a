"""Security associations by HIP's own exchange (RFC 7401), and UPDATEs that tell peers where the host is (RFC 8046)."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from ipaddress import IPv6Address

from wayname.hip.association import Esp, LocalHost, Names
from wayname.hip.endpoint import Endpoint
from wayname.hip.esp.suites import SUITES, SuiteId
from wayname.hip.identities import Identity
from wayname.hip.outputs import Changed, Event, Failed, Gone, Output, Send, Standing, Up
from wayname.hip.settings import Settings
from wayname.hip.transports import EspTransform
from wayname.session.keys import Pair
from wayname.timers import earliest
from wayname.wire.ipv6 import Packet
from wayname_lab.hip.pairs import pairs_of
from wayname_lab.hip.signalling import Agreed, Ended, Note, Said, Say

SECOND = 1_000_000_000
# After which peers are told again of a locator that had failed.
FORGIVEN = 10 * SECOND


class Exchanged:
    """What a host agrees on with whoever it knows an address of; times in nanoseconds."""

    def __init__(
        self,
        identity: Identity,
        locators: Sequence[IPv6Address],
        peers: Mapping[IPv6Address, Sequence[IPv6Address]],
        suite: SuiteId,
        rng: random.Random,
    ) -> None:
        self._identity = identity
        self._locators = list(locators)
        self._peers = peers
        self._asked: dict[IPv6Address, int] = {}
        self._forgives_at: int | None = None
        # Edges on the way may know who talks.
        settings = Settings(formats=(EspTransform.number,), esp_suites=(suite,), hides_identity=False)
        self._endpoint = Endpoint(rng, settings, self._why_not)
        self._endpoint.serve(LocalHost(identity, tuple(locators)), 0.0)

    def want(self, peer: IPv6Address, now: int) -> bool:
        """A packet waits for an association with this peer; return whether there may be one."""
        if peer not in self._peers:
            return False
        if now >= self._asked.get(peer, -SECOND) + SECOND:
            self._asked[peer] = now
            pair = Pair(self._locators[0], self._peers[peer][0])
            self._endpoint.connect(Names(self._identity.hit, peer), pair, now / SECOND)
        return True

    def receive(self, packet: Packet, now: int) -> None:
        """Take a HIP packet."""
        self._endpoint.receive(packet, now / SECOND)

    def heard(self, peer: IPv6Address, octets: int, now: int) -> None:
        """Data of a peer came."""
        self._endpoint.heard(Names(self._identity.hit, peer), octets, now / SECOND)

    def rekey(self, peer: IPv6Address, now: int) -> None:
        """Agree on new keys, out of a new Diffie-Hellman value."""
        self._endpoint.rekey(Names(self._identity.hit, peer), now / SECOND)

    def leave(self, left: Pair, now_used: Pair, now: int) -> None:
        """Nothing comes back that is sent between these locators; tell the peers to use the other of ours."""
        if left.local != now_used.local:
            self._locators.remove(now_used.local)
            self._locators.insert(0, now_used.local)
            usable = tuple(locator for locator in self._locators if locator != left.local)
            self._endpoint.serve(LocalHost(self._identity, usable), now / SECOND)
            self._forgives_at = now + FORGIVEN

    def take(self) -> list[Said]:
        """Return what came of it since the last call."""
        return [said for output in self._endpoint.take_outputs() if (said := self._said(output)) is not None]

    def next_timer(self) -> int | None:
        """Return when to call `handle_timer`."""
        timer = self._endpoint.next_timer()
        # A nanosecond later, so that the seconds made of it are not before what was asked for.
        return earliest((self._forgives_at, None if timer is None else int(timer * SECOND) + 1))

    def handle_timer(self, now: int) -> None:
        """Do what is due."""
        if self._forgives_at is not None and now >= self._forgives_at:
            self._forgives_at = None
            self._endpoint.serve(LocalHost(self._identity, tuple(self._locators)), now / SECOND)
        self._endpoint.handle_timer(now / SECOND)

    def _why_not(self, names: Names, pair: Pair) -> str | None:
        return None if names.peer in self._peers else "it is no host of this lab"

    def _said(self, output: Output) -> Said | None:
        match output:
            case Send(packet):
                return Say(packet)
            case Up(standing) | Changed(standing):
                return self._agreed(standing)
            case Gone(names) | Failed(names):
                return Ended(names.peer)
            case Event(text=text):
                return Note(text)
        return None

    def _agreed(self, standing: Standing) -> Agreed | None:
        esp = standing.transport
        if not isinstance(esp, Esp):
            return None
        rest = pairs_of(self._locators, standing.peer_locators)
        pairs = (standing.pair, *(pair for pair in rest if pair != standing.pair))
        suite = SUITES[esp.suite]
        return Agreed(standing.names.peer, suite, esp.spi, esp.peer_spi, esp.outgoing, esp.incoming, pairs)
