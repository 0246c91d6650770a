"""ICMPv6 errors about packets of sessions, as the host that sent them would have got them."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv6Address

from wayname.ilnp.cache import Names
from wayname.ilnp.edge.session import IlnpSession
from wayname.ilnp.nonce import NONCE_OPTION
from wayname.ilnp.vectors import Vector
from wayname.session.errors import UNUSED_OCTETS, without_header
from wayname.session.keys import Pair
from wayname.wire import icmpv6, ipv6
from wayname.wire.errors import DecodeError


def for_host(message: icmpv6.Message, sessions: Mapping[Names, IlnpSession]) -> tuple[IlnpSession, icmpv6.Message]:
    """Return the session of the packet that an error quotes, and the error about what the host sent.

    Routers quote what fits, so the packet may be cut short. Only who saw it knows the nonce that it bore.
    """
    quoted = message.body[UNUSED_OCTETS:]
    if len(quoted) < ipv6.HEADER_BYTES + 8 or quoted[6] != ipv6.DESTINATION_OPTIONS:
        raise DecodeError("the error quotes no packet with a nonce")
    source, destination = Vector.of(IPv6Address(quoted[8:24])), Vector.of(IPv6Address(quoted[24:40]))
    session = sessions.get(Names(source.nid, destination.nid))
    options = quoted[ipv6.HEADER_BYTES :]
    octets = (options[1] + 1) * 8
    if session is None or source.locator not in session.stands.taken:
        raise DecodeError("the error quotes nothing of ours")
    nonce = session.stands.nonce_to_peer
    if options[2:octets] != bytes([NONCE_OPTION, len(nonce)]) + nonce:
        raise DecodeError("the error quotes a nonce that is not the session's")
    identities = Pair(session.stands.local_identity, session.stands.peer_identity)
    return session, without_header(message, octets, options[0], identities)
