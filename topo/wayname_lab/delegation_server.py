"""A DHCPv6 server that delegates prefixes to one site (RFC 8415, section 18.3), without sockets or clock.

It knows the prefix that the site shall have, and those that it had. Of a prefix that it never heard of it says
NoBinding, as a server does whose memory is gone; so a site is renumbered without a word about the old prefix.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from ipaddress import IPv6Address, IPv6Network

from wayname.wire.dhcpv6 import INFINITY, Code, Delegation, Kind, Message, PrefixLease, Status

DUID = bytes.fromhex("00030001029900000001")
_NO_BINDING = Status(Code.NO_BINDING, "nothing is known of this")
_NO_PREFIXES = Status(Code.NO_PREFIXES, "there is none")


class DelegationServer:
    """Gives out one prefix at a time; `answer` is asked with each message of the client."""

    def __init__(self, preferred: int, valid: int, dns_servers: tuple[IPv6Address, ...] = ()) -> None:
        self.preferred, self.valid = preferred, valid
        self.dns_servers = dns_servers
        self.search_domains: tuple[str, ...] = ()
        self.rapid = True
        self.current: IPv6Network | None = None
        # Those that it had, and until when they are valid: as long as it was told last.
        self._deprecated: dict[IPv6Network, float] = {}
        self._told: dict[IPv6Network, float] = {}

    def delegate(self, prefix: IPv6Network) -> None:
        """Let the site have this prefix, and know nothing of others."""
        self.current = prefix
        self._deprecated = {}
        self._told = {}

    def renumber(self, prefix: IPv6Network) -> None:
        """Let the site have another prefix, and keep the one that it has until that ends."""
        if self.current is not None and self.current in self._told:
            self._deprecated[self.current] = self._told[self.current]
        self.current = prefix

    def withdraw(self) -> None:
        """Give out nothing, and take back what the client asks about."""
        self.current = None
        self._deprecated = {}

    def answer(self, message: Message, now: float) -> Message | None:
        """Return the answer to a client; None is silence."""
        if message.client is None or not message.delegations:
            return None
        match message.kind:
            case Kind.SOLICIT:
                kind = Kind.REPLY if message.rapid_commit and self.rapid else Kind.ADVERTISE
            case Kind.REBIND:
                kind = Kind.REPLY
            case Kind.REQUEST | Kind.RENEW if message.server == DUID:
                kind = Kind.REPLY
            case _:
                return None
        delegations = tuple(self._delegation(message.kind, each, now) for each in message.delegations)
        reply = Message(kind, message.transaction, message.client, DUID, delegations=delegations)
        reply = replace(reply, dns_servers=self.dns_servers, search_domains=self.search_domains)
        return replace(reply, rapid_commit=message.kind is Kind.SOLICIT and kind is Kind.REPLY)

    def _delegation(self, kind: Kind, asked: Delegation, now: float) -> Delegation:
        named = {each.network for each in asked.leases}
        known = named & {*([self.current] if self.current else ()), *self._deprecated}
        if kind is Kind.RENEW and not known:
            return Delegation(asked.iaid, status=_NO_BINDING)
        leases = list(self._leases(now))
        if kind in (Kind.RENEW, Kind.REBIND):
            given = {each.network for each in leases}
            leases += [PrefixLease(network) for network in sorted(named - given)]
        if not leases:
            return Delegation(asked.iaid, status=_NO_PREFIXES)
        t1, t2 = (INFINITY, INFINITY) if self.preferred == INFINITY else (self.preferred // 2, self.preferred * 4 // 5)
        return Delegation(asked.iaid, tuple(leases), t1, t2)

    def _leases(self, now: float) -> Iterator[PrefixLease]:
        if self.current is not None:
            self._told[self.current] = now + self.valid
            yield PrefixLease(self.current, self.preferred, self.valid)
        for network, until in self._deprecated.items():
            if until > now:
                yield PrefixLease(network, 0, int(until - now))
