"""The border of a site whose hosts speak ILNP themselves, and leave their locators to it (RFC 6748, sections 2 and 3).

Hosts have the locator of the inside; the switch puts a provider's in its place, as it translates prefixes, and back. It
says which sessions have begun, by the nonce that a host's packet bore after its peer had answered. When their provider
fails, their peers are told in the hosts' names.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from ipaddress import IPv6Address, IPv6Network

from wayname.config.model import Provider
from wayname.edge.boundary import FlowEvent
from wayname.edge.links import ReceivedPacket
from wayname.ilnp.cache import Names
from wayname.ilnp.config import Ilnp, IlnpMode
from wayname.ilnp.locator_update import LOCATOR_UPDATE, Listed, LocatorUpdate, Operation
from wayname.ilnp.nonce import with_nonce
from wayname.ilnp.vectors import L64, Vector
from wayname.nptv6 import PrefixMapping
from wayname.p4_constants import FlowEventKind
from wayname.pipeline import sessions as entries
from wayname.session.context import SessionContext
from wayname.timers import Timers
from wayname.wire import icmpv6

MOST_SESSIONS = 65536  # the one that was told of longest ago is forgotten
FIRST_TIMEOUT = 0.5
TRIES = 6
FIRST_PREFERENCE = 10
# Who acknowledges repeats the list. Lifetimes are drawn, so that only who got it can.
LIFETIMES = (300, 4000)


@dataclass(slots=True)
class _Session:
    """A session of a host inside: its nonce, the provider by which its peer sends, and what its peer is told."""

    local: IPv6Address
    peer: IPv6Address
    nonce: bytes = field(repr=False)
    provider: str
    update: LocatorUpdate | None = None
    tries: int = 0


class SiteBorder:
    """Knows how hosts behind the border look from outside, and tells their peers."""

    def __init__(self, rules: Ilnp, context: SessionContext) -> None:
        self._inside = [site.prefixes[0] for site in rules.sites if site.mode is IlnpMode.BORDER]
        self._rules = {
            prefix: next(each for each in context.config.translations if prefix.subnet_of(each.inside))
            for prefix in self._inside
        }
        self._translation = context.translation
        self._egress = context.egress
        outputs = self._outputs = context.outputs
        self._rng = context.rng
        self._sessions: OrderedDict[Names, _Session] = OrderedDict()
        self._timers: Timers[Names] = Timers()
        for inside in self._inside:
            outputs.desired.put(entries.leaves_locators_to_border(inside))
            for _, outside in self._seen_as(inside.network_address):
                outputs.desired.put(entries.reached_over_border(IPv6Network((outside, inside.prefixlen), strict=False)))

    def listed(self, address: IPv6Address) -> tuple[Listed, ...]:
        """Return the locators by which a host inside can be reached now, for the DNS."""
        seen = list(self._seen_as(address))
        open_ = [outside for provider, outside in seen if self._translation.is_open(provider)]
        locators = [Vector.of(outside).locator for outside in open_ or [outside for _, outside in seen]]
        return tuple(Listed(locator, FIRST_PREFERENCE * rank, LIFETIMES[0]) for rank, locator in enumerate(locators, 1))

    def switch_event(self, switch_event: FlowEvent, now: float) -> None:
        """A session began, or its packets leave by another provider since theirs failed."""
        to = self._translation.numbered(switch_event.provider_to)
        if to is None or to.name not in self._locators(switch_event.flow.local):
            return
        names = Names(Vector.of(switch_event.flow.local).nid, Vector.of(switch_event.flow.remote).nid)
        session = self._sessions.get(names)
        if session is None or session.nonce != switch_event.nonce:
            by = self._translation.numbered(switch_event.provider_from) or to
            # What the session before was told of is no business of this one's peer.
            self._timers.cancel(names)
            session = self._sessions[names] = _Session(
                switch_event.flow.local, switch_event.flow.remote, switch_event.nonce, by.name
            )
        self._sessions.move_to_end(names)
        if len(self._sessions) > MOST_SESSIONS:
            forgotten, _ = self._sessions.popitem(last=False)
            self._timers.cancel(forgotten)
        if switch_event.kind is FlowEventKind.MOVED and session.provider != to.name:
            self._move(names, session, to.name, now)

    def next_hops_changed(self, now: float) -> None:
        """Tell the peers of all sessions whose provider failed: a host that only listens has nothing to send."""
        works = [name for name, each in self._translation.providers.items() if self._translation.is_open(each.provider)]
        for names, session in self._sessions.items():
            here = [name for name in self._locators(session.local) if name in works]
            if here and session.provider not in works:
                self._move(names, session, here[0], now)

    def takes(self, arrival: ReceivedPacket, now: float) -> bool:
        """Take a Locator Update for a host here; of what it did not tell itself it gets no acknowledgement."""
        local, peer = Vector.of(arrival.packet.destination), Vector.of(arrival.packet.source)
        if not any(local.address in prefix for prefix in self._outside()):
            return False
        message = icmpv6.Message.decode(arrival.packet)
        update = LocatorUpdate.decode(message.code, message.body)
        names = Names(local.nid, peer.nid)
        session = self._sessions.get(names)
        if update.operation is Operation.ADVERTISEMENT or session is None or session.update is None:
            self._egress.submit(arrival.original)
        elif update.listed == session.update.listed:
            self._timers.cancel(names)
        return True

    def next_timer(self) -> float | None:
        """Return when `handle_timer` has to be called at the latest."""
        return self._timers.next()

    def handle_timer(self, now: float) -> None:
        """Tell again what was not acknowledged."""
        for names in self._timers.due(now):
            session = self._sessions[names]
            if session.tries < TRIES:
                self._tell(names, session, now)
            else:
                # Its peer is gone, or hears of it when the session's next packet goes by another provider.
                del self._sessions[names]

    def _move(self, names: Names, session: _Session, to: str, now: float) -> None:
        locators = self._locators(session.local)
        works = [name for name in locators if self._translation.is_open(self._translation.providers[name].provider)]
        order = [to, *(name for name in works if name != to)]
        lifetime = self._rng.randrange(*LIFETIMES)
        listed = (Listed(locators[name], FIRST_PREFERENCE * rank, lifetime) for rank, name in enumerate(order, 1))
        text = f"{session.local} with {session.peer}: its peer is told to send by {to}: {session.provider} is down"
        self._outputs.event(now, "session.moved", "ilnp", text)
        session.update = LocatorUpdate(Operation.ADVERTISEMENT, tuple(listed))
        session.provider, session.tries = to, 0
        self._tell(names, session, now)

    def _tell(self, names: Names, session: _Session, now: float) -> None:
        assert session.update is not None
        source = Vector(session.update.listed[0].locator, names.local).address
        message = icmpv6.Message(LOCATOR_UPDATE, 0, session.update.encode())
        self._egress.send(with_nonce(message.packet(source, session.peer), session.nonce))
        self._timers.set(names, now + FIRST_TIMEOUT * 2**session.tries)
        session.tries += 1

    def _locators(self, address: IPv6Address) -> dict[str, L64]:
        """Return the locators of a host inside by the names of its providers."""
        return {provider.name: Vector.of(outside).locator for provider, outside in self._seen_as(address)}

    def _outside(self) -> Iterator[IPv6Network]:
        for inside in self._inside:
            for _, outside in self._seen_as(inside.network_address):
                yield IPv6Network((outside, inside.prefixlen), strict=False)

    def _seen_as(self, address: IPv6Address) -> Iterator[tuple[Provider, IPv6Address]]:
        """Yield the providers of a host inside, and what it is called beyond each."""
        for inside, rules in self._rules.items():
            for name, _ in rules.shares if address in inside else ():
                provider = self._translation.providers[name].provider
                if rules.inside.subnet_of(provider.prefix):
                    yield provider, address
                else:
                    yield provider, PrefixMapping(rules.inside, provider.prefix).out(address)
