"""A client of DHCPv6 that is delegated prefixes (RFC 8415, section 18.2): messages and times in, messages out.

    SOLICITING --Advertise--> REQUESTING --Reply--> BOUND --T1--> RENEWING --T2--> REBINDING
        ^  \\__________________Reply, rapid commit____^ ^______________Reply_________________|
        |                                              |                                    |
        `------------- the last prefix is over --------+------------------------------------'

A prefix is the client's until its valid lifetime ends or a server takes it back. A server that knows nothing of it any
more (NoBinding), and gives another, has taken it back: so an ISP that renumbers without a word is left at once.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from enum import Enum, auto
from ipaddress import IPv6Address, IPv6Network
from math import inf

from wayname.prefix_delegation.retransmission import (
    REBIND,
    RENEW,
    REQUEST,
    SOL_MAX_DELAY,
    SOLICIT,
    VERIFY,
    Retransmission,
    Schedule,
)
from wayname.timers import earliest
from wayname.wire.dhcpv6 import INFINITY, Code, Delegation, Kind, Message, Option, PrefixLease

# Shares of the shortest preferred lifetime, where the server leaves it to the client (section 21.21).
T1_SHARE, T2_SHARE = 0.5, 0.8
# A server that says less would be asked all the time.
LEAST_T1 = 5.0
# Of one provider at a time; while it renumbers it has two.
MOST_PREFIXES = 4
LEAST_SOL_MAX_RT, MOST_SOL_MAX_RT = 60, 86_400
HIGHEST_PREFERENCE = 255
ASKED_FOR = (Option.DNS_SERVERS, Option.SEARCH_DOMAINS, Option.SOL_MAX_RT)


class State(Enum):
    """What the client does."""

    IDLE = auto()
    SOLICITING = auto()
    REQUESTING = auto()
    BOUND = auto()
    RENEWING = auto()
    REBINDING = auto()


@dataclass(frozen=True, slots=True)
class DelegatedPrefix:
    """A prefix, and until when it is preferred and valid."""

    network: IPv6Network
    preferred: float
    valid: float


@dataclass(frozen=True, slots=True)
class Wish:
    """What is asked for: the IAID stays the same for as long as there is such a client (RFC 9096, section 3.2)."""

    duid: bytes
    iaid: int
    hint: IPv6Network | None = None


class PrefixClient:
    """One association of prefixes. `take` returns what to send to all servers on the link."""

    def __init__(self, wish: Wish, rng: random.Random) -> None:
        self.wish = wish
        self.state = State.IDLE
        self.server: bytes | None = None
        self.prefixes: dict[IPv6Network, DelegatedPrefix] = {}
        self.dns_servers: tuple[IPv6Address, ...] = ()
        self.search_domains: tuple[str, ...] = ()
        self._rng = rng
        self._transaction = 0
        self._exchange: Retransmission | None = None
        self._offers: list[Message] = []
        self._t1, self._t2 = inf, inf
        self._sol_max_rt = SOLICIT.longest
        self._unknown_there = False
        self._out: list[Message] = []

    def start(self, now: float) -> None:
        """Ask for prefixes, or whether those that are known still stand: the link may be another now."""
        if self.prefixes:
            self._rebind(VERIFY, now)
        else:
            self._solicit(now)

    def stop(self) -> None:
        """Say nothing: the link is away. What was given lasts as long as it was given for."""
        self._exchange = None

    def recall(self, prefixes: list[DelegatedPrefix], dns: tuple[IPv6Address, ...], domains: tuple[str, ...]) -> None:
        """Take what an earlier client was given; `start` asks for it."""
        self.prefixes = {each.network: each for each in prefixes}
        self.dns_servers, self.search_domains = dns, domains
        self.state = State.BOUND

    def receive(self, message: Message, now: float) -> bool:
        """Take a server's message; return whether it was an answer to what was asked (section 16)."""
        exchange = self._exchange
        if exchange is None or message.transaction != self._transaction or message.client != self.wish.duid:
            return False
        if message.server is None or not exchange.sent:
            return False
        # Even where nothing is given (section 21.24).
        if message.sol_max_rt is not None and LEAST_SOL_MAX_RT <= message.sol_max_rt <= MOST_SOL_MAX_RT:
            self._sol_max_rt = float(message.sol_max_rt)
            if self.state is State.SOLICITING:
                exchange.schedule = replace(SOLICIT, longest=self._sol_max_rt)
        match message.kind:
            case Kind.ADVERTISE if self.state is State.SOLICITING:
                self._advertised(message, now)
            case Kind.REPLY if self.state is not State.SOLICITING or message.rapid_commit:
                self._replied(message, now)
            case _:
                return False
        return True

    def next_timer(self) -> float | None:
        """Return when `handle_timer` has to be called at the latest."""
        over = (each.valid for each in self.prefixes.values() if each.valid < inf)
        due = [self._exchange.due] if self._exchange else []
        if self.state is State.BOUND and self._exchange is None and self._t1 < inf:
            due.append(self._t1)
        if self.state is State.RENEWING and self._exchange and self._t2 < inf:
            due.append(self._t2)
        return earliest([*due, *over])

    def handle_timer(self, now: float) -> None:
        """Do what is due."""
        for network in [each.network for each in self.prefixes.values() if each.valid <= now]:
            del self.prefixes[network]
        is_bound = self.state in (State.BOUND, State.RENEWING, State.REBINDING)
        if is_bound and not self.prefixes:
            self.server = None
            self._solicit(now)
        elif self.state is State.BOUND and self._exchange is None and now >= self._t1:
            # Who was given them before a restart does not know by which server: all are asked.
            if self.server is None:
                self._rebind(REBIND, now)
            else:
                self._begin(State.RENEWING, RENEW, now)
        elif self.state is State.RENEWING and self._exchange and now >= self._t2:
            self._rebind(REBIND, now)
        if self._exchange is not None and now >= self._exchange.due:
            self._retransmit(self._exchange, now)

    def take(self) -> list[Message]:
        """Return what to send, once."""
        taken, self._out = self._out, []
        return taken

    def _solicit(self, now: float) -> None:
        self._offers = []
        schedule = replace(SOLICIT, longest=self._sol_max_rt)
        # Many start at once when the power is back (section 18.2.1).
        self._begin(State.SOLICITING, schedule, now + self._rng.uniform(0, SOL_MAX_DELAY), is_first_longer=True)

    def _rebind(self, schedule: Schedule, now: float) -> None:
        self._begin(State.REBINDING, schedule, now)

    def _begin(self, state: State, schedule: Schedule, at: float, is_first_longer: bool = False) -> None:
        self.state = state
        self._transaction = self._rng.getrandbits(24)
        self._exchange = Retransmission(schedule, self._rng, at, is_first_longer)

    def _retransmit(self, exchange: Retransmission, now: float) -> None:
        if self.state is State.SOLICITING and self._offers:
            # The first wait was for other servers' answers.
            self._request(max(self._offers, key=lambda offer: offer.preference or 0), now)
        elif not exchange.is_given_up(now):
            self._send(exchange, now)
        elif self.state is State.REBINDING:
            # Nobody said that they do not stand: they last as long as they were given for.
            self.state, self._exchange = State.BOUND, None
            self._t1 = max(self._t1, now + LEAST_T1) if self._t1 < inf else self._chosen(now, T1_SHARE)
        else:
            self._solicit(now)

    def _send(self, exchange: Retransmission, now: float) -> None:
        kind = {
            State.SOLICITING: Kind.SOLICIT,
            State.REQUESTING: Kind.REQUEST,
            State.RENEWING: Kind.RENEW,
            State.REBINDING: Kind.REBIND,
        }[self.state]
        self._out.append(
            Message(
                kind,
                self._transaction,
                self.wish.duid,
                self.server if kind in (Kind.REQUEST, Kind.RENEW) else None,
                rapid_commit=kind is Kind.SOLICIT,
                delegations=(Delegation(self.wish.iaid, self._wanted(kind)),),
                elapsed=exchange.elapsed(now),
                requested=ASKED_FOR,
            )
        )
        exchange.note_sent(now)

    def _wanted(self, kind: Kind) -> tuple[PrefixLease, ...]:
        """Return which prefixes are named: those that are there, else what is hoped for (section 18.2.4)."""
        if kind is Kind.REQUEST and self._offers:
            return tuple(PrefixLease(each.network) for each in self._given(self._offers[0]))
        if self.prefixes:
            return tuple(map(PrefixLease, self.prefixes))
        return (PrefixLease(self.wish.hint),) if self.wish.hint else ()

    def _advertised(self, message: Message, now: float) -> None:
        if not self._given(message):
            return
        self._offers.append(message)
        assert self._exchange is not None
        # Who is preferred most need not be compared, nor who answers late.
        if message.preference == HIGHEST_PREFERENCE or self._exchange.sent > 1:
            self._request(message, now)

    def _request(self, offer: Message, now: float) -> None:
        self.server, self._offers = offer.server, [offer]
        self._begin(State.REQUESTING, REQUEST, now)
        assert self._exchange is not None
        self._send(self._exchange, now)

    def _replied(self, message: Message, now: float) -> None:
        if message.status is not None and message.status.code is not Code.SUCCESS:
            # Something is wrong there: it is asked again in its time (section 18.2.10).
            return
        given = self._given(message)
        code = self._code(message)
        if code is Code.NO_BINDING and self.state in (State.RENEWING, State.REBINDING):
            # This server does not know them any more (section 18.2.10.1): what it gives now takes their place.
            self._unknown_there = True
            self._request(message, now)
        elif given or self._taken_back(message):
            self._bind(message, given, now)
        elif self.state is State.REQUESTING:
            self._solicit(now)

    def _bind(self, message: Message, given: list[PrefixLease], now: float) -> None:
        self.server = message.server
        self._offers = []
        told = {each.network: _until(each, now) for each in given}
        replaces = self._unknown_there or self.state in (State.SOLICITING, State.REQUESTING)
        for network in self._taken_back(message):
            self.prefixes.pop(network, None)
        for network, old in list(self.prefixes.items()):
            if network not in told and told:
                if replaces:
                    del self.prefixes[network]
                else:
                    # It is the client's still (section 18.2.10.1), but its server has a better one.
                    self.prefixes[network] = replace(old, preferred=min(old.preferred, now))
        for network, prefix in told.items():
            if network in self.prefixes or len(self.prefixes) < MOST_PREFIXES:
                self.prefixes[network] = prefix
        self._unknown_there = False
        if message.dns_servers or message.search_domains or replaces:
            self.dns_servers, self.search_domains = message.dns_servers, message.search_domains
        self._exchange = None
        if not self.prefixes:
            self._solicit(now)
            return
        self.state = State.BOUND
        delegation = self._delegation(message)
        t1, t2 = (delegation.t1, delegation.t2) if delegation else (0, 0)
        self._t1 = self._chosen(now, T1_SHARE) if not t1 else (inf if t1 == INFINITY else now + max(t1, LEAST_T1))
        self._t2 = self._chosen(now, T2_SHARE) if not t2 else (inf if t2 == INFINITY else now + max(t2, LEAST_T1))
        self._t1 = min(self._t1, self._t2)

    def _chosen(self, now: float, share: float) -> float:
        """Return when to ask for more time: in a share of the shortest time for which a prefix is of use."""
        ends = [each.preferred if each.preferred > now else each.valid for each in self.prefixes.values()]
        return now + max((min(ends, default=inf) - now) * share, LEAST_T1)

    def _delegation(self, message: Message) -> Delegation | None:
        return next((each for each in message.delegations if each.iaid == self.wish.iaid), None)

    def _code(self, message: Message) -> Code:
        delegation = self._delegation(message)
        return delegation.status.code if delegation and delegation.status else Code.SUCCESS

    def _given(self, message: Message) -> list[PrefixLease]:
        """Return the prefixes that a message gives and that can be used."""
        delegation = self._delegation(message)
        if delegation is None or self._code(message) is not Code.SUCCESS:
            return []
        return [each for each in delegation.leases if each.valid and _is_usable(each)]

    def _taken_back(self, message: Message) -> list[IPv6Network]:
        delegation = self._delegation(message)
        return [each.network for each in delegation.leases if not each.valid] if delegation else []


def _is_usable(lease: PrefixLease) -> bool:
    network = lease.network
    if lease.status is not None and lease.status.code is not Code.SUCCESS:
        return False
    return 8 <= network.prefixlen <= 64 and not (network.is_link_local or network.is_multicast or network.is_loopback)


def _until(lease: PrefixLease, now: float) -> DelegatedPrefix:
    ends = (inf if seconds == INFINITY else now + seconds for seconds in (lease.preferred, lease.valid))
    return DelegatedPrefix(lease.network, *ends)
