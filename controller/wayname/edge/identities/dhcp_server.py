"""A DHCPv6 server without relays (RFC 8415, section 18.3): which message gets which answer.

message                  answer        and it does
Solicit                  Advertise     nothing: whoever only asks takes nothing away
Solicit, rapid commit    Reply         as Request
Request                  Reply         the client has its addresses
Renew, Rebind            Reply         it has them for longer
Confirm                  Reply         says whether addresses are of this link
Release, Decline         Reply         the lease, or the identity, ends
Information-request      Reply         there is nothing to tell
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from ipaddress import IPv6Address

from wayname.config.identities import HostLink
from wayname.edge.first_hop_security.anchor import Anchor
from wayname.edge.identities.identity import Client
from wayname.edge.identities.leases import Leases
from wayname.wire.dhcpv6 import Association, Code, Delegation, Kind, Lease, Message, Refused, Status
from wayname.wire.errors import DecodeError

MOST_ASSOCIATIONS = 8
# When a client asks for more time: shares of the preferred lifetime (section 14.2).
T1_SHARE, T2_SHARE = 0.5, 0.8

_NO_TEMPORARY = Status(Code.NO_ADDRESSES, "no temporary addresses")
_NO_PREFIXES = Status(Code.NO_PREFIXES, "no prefixes")
_NO_ADDRESSES = Status(Code.NO_ADDRESSES, "no address is ready")
_NO_BINDING = Status(Code.NO_BINDING, "nothing is known of this")
_NOT_ON_LINK = Status(Code.NOT_ON_LINK, "another link's address")
_USE_MULTICAST = Status(Code.USE_MULTICAST, "send it to all servers")

# What an association gets, or None where the whole message gets no answer.
_Answer = Callable[[HostLink, Client, Association, Anchor, float], Association | None]


class DhcpServer:
    """Answers clients of all links; the server's DUID is the same on all."""

    def __init__(self, duid: bytes, leases: Leases) -> None:
        self._duid = duid
        self._leases = leases
        # The client must name this server, or must name none (section 16).
        self._for_me: dict[Kind, _Answer] = {
            Kind.REQUEST: self._request,
            Kind.RENEW: self._renew,
            Kind.RELEASE: self._release,
            Kind.DECLINE: self._decline,
        }
        self._for_all: dict[Kind, _Answer] = {Kind.SOLICIT: self._solicit, Kind.REBIND: self._rebind}

    def answer(self, link: HostLink, message: Message, anchor: Anchor, to_all: bool, now: float) -> Message | None:
        """Return the answer to a message, which came to all servers or to this one's address; None is silence."""
        self._check(message)
        client = message.client
        if message.kind is Kind.INFORMATION_REQUEST:
            return self._reply(message) if to_all else None
        if client is None:
            return None
        if message.kind in self._for_me and not to_all:
            # No client was told that it may (section 18.4).
            return self._reply(message, status=_USE_MULTICAST)
        if not to_all:
            return None
        if message.kind is Kind.CONFIRM:
            return self._confirm(link, message)
        rapid = message.kind is Kind.SOLICIT and message.rapid_commit
        handle = self._request if rapid else self._for_me.get(message.kind) or self._for_all[message.kind]
        answers: list[Association] = []
        for association in message.associations[:MOST_ASSOCIATIONS]:
            answer = handle(link, Client(client, association.iaid), association, anchor, now)
            if answer is None:
                return None
            answers.append(answer)
        if message.kind in (Kind.RELEASE, Kind.DECLINE):
            refused = tuple(each for each in answers if each.status is not None)
            return self._reply(message, refused, status=Status(Code.SUCCESS))
        reply = replace(
            self._reply(message, tuple(answers)),
            others=tuple(Refused(each.iaid, _NO_TEMPORARY) for each in message.others[:MOST_ASSOCIATIONS]),
            delegations=tuple(
                Delegation(each.iaid, status=_NO_PREFIXES) for each in message.delegations[:MOST_ASSOCIATIONS]
            ),
        )
        if message.kind is Kind.SOLICIT and not rapid:
            return replace(reply, kind=Kind.ADVERTISE)
        return replace(reply, rapid_commit=rapid)

    def _check(self, message: Message) -> None:
        """Raise DecodeError for what section 16 says to discard."""
        kind = message.kind
        if kind in self._for_me:
            if message.client is None or message.server != self._duid:
                raise DecodeError(f"{kind.name} without a client, or for another server")
        elif kind in self._for_all or kind is Kind.CONFIRM:
            if message.client is None or message.server is not None:
                raise DecodeError(f"{kind.name} without a client, or with a server")
        elif kind is Kind.INFORMATION_REQUEST:
            named = message.server not in (None, self._duid)
            if named or message.associations or message.others or message.delegations:
                raise DecodeError("INFORMATION_REQUEST for another server, or with an association")
        else:
            raise DecodeError(f"{kind.name} is for clients")

    def _reply(
        self, message: Message, associations: tuple[Association, ...] = (), status: Status | None = None
    ) -> Message:
        return Message(Kind.REPLY, message.transaction, message.client, self._duid, associations, status=status)

    def _solicit(self, link: HostLink, client: Client, asked: Association, anchor: Anchor, now: float) -> Association:
        return _granted(link, asked, self._leases.offered(link, client))

    def _request(self, link: HostLink, client: Client, asked: Association, anchor: Anchor, now: float) -> Association:
        if asked.leases and not _is_on_link(link, asked):
            return Association(asked.iaid, status=_NOT_ON_LINK)
        return _granted(link, asked, self._leases.give(link, client, anchor, now))

    def _renew(self, link: HostLink, client: Client, asked: Association, anchor: Anchor, now: float) -> Association:
        addresses = self._leases.extend(link, client, anchor, now)
        if not addresses:
            return Association(asked.iaid, status=_NO_BINDING)
        return _renewed(link, asked, addresses)

    def _rebind(
        self, link: HostLink, client: Client, asked: Association, anchor: Anchor, now: float
    ) -> Association | None:
        addresses = self._leases.extend(link, client, anchor, now)
        if not addresses and _is_on_link(link, asked):
            # Another server may know it (section 18.3.5).
            return None
        return _renewed(link, asked, addresses)

    def _release(self, link: HostLink, client: Client, asked: Association, anchor: Anchor, now: float) -> Association:
        if not self._names_own(link, client, asked) or not self._leases.release(link, client, anchor, now):
            return Association(asked.iaid, status=_NO_BINDING)
        return Association(asked.iaid)

    def _decline(self, link: HostLink, client: Client, asked: Association, anchor: Anchor, now: float) -> Association:
        if not self._names_own(link, client, asked) or not self._leases.decline(link, client, anchor, now):
            return Association(asked.iaid, status=_NO_BINDING)
        return Association(asked.iaid)

    def _names_own(self, link: HostLink, client: Client, asked: Association) -> bool:
        held = self._leases.held(link, client)
        return any(lease.address in held for lease in asked.leases)

    def _confirm(self, link: HostLink, message: Message) -> Message | None:
        """Say whether addresses fit the link; nothing is said of none (section 18.3.3)."""
        if not any(association.leases for association in message.associations):
            return None
        fits = all(_is_on_link(link, association) for association in message.associations)
        return self._reply(message, status=Status(Code.SUCCESS) if fits else _NOT_ON_LINK)


def _granted(link: HostLink, asked: Association, addresses: tuple[IPv6Address, ...]) -> Association:
    if not addresses:
        return Association(asked.iaid, status=_NO_ADDRESSES)
    leases = tuple(Lease(address, link.preferred, link.valid) for address in addresses)
    return Association(asked.iaid, leases, int(link.preferred * T1_SHARE), int(link.preferred * T2_SHARE))


def _renewed(link: HostLink, asked: Association, addresses: tuple[IPv6Address, ...]) -> Association:
    """Return what a client has, and take from it what it names beside that."""
    gone = tuple(Lease(lease.address) for lease in asked.leases if lease.address not in addresses)
    granted = _granted(link, asked, addresses)
    return replace(granted, leases=(*granted.leases, *gone), status=None)


def _is_on_link(link: HostLink, asked: Association) -> bool:
    return all(any(lease.address in prefix for prefix in link.prefixes) for lease in asked.leases)
