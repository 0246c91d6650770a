"""ICMPv6 errors about packets of sessions: what they quote, and which context that was."""

from __future__ import annotations

from ipaddress import IPv6Address

from wayname.edge.sessions.session import Session
from wayname.shim6.context import ContextName, Pair
from wayname.shim6.contexts import Contexts
from wayname.shim6.payload import PayloadHeader, is_payload
from wayname.wire import icmpv6, ipv6
from wayname.wire.errors import DecodeError

UNUSED_OCTETS = 4
# Signs that a path fails; whoever forges one makes us send a probe.
DOUBTFUL = {icmpv6.UNREACHABLE: "unreachable", icmpv6.TIME_EXCEEDED: "time exceeded"}


def doubtful(message: icmpv6.Message) -> str | None:
    """Return what an error says against a path, if it does."""
    return DOUBTFUL.get(message.type)


def context_in_error(message: icmpv6.Message, contexts: Contexts) -> ContextName:
    """Return the context of the packet that an error quotes; routers quote what fits, so it may be cut short."""
    quoted = message.body[UNUSED_OCTETS:]
    if len(quoted) < ipv6.HEADER_BYTES + 8 or quoted[6] != ipv6.SHIM6:
        raise DecodeError("the error quotes no payload header")
    pair = Pair(IPv6Address(quoted[8:24]), IPv6Address(quoted[24:40]))
    header = quoted[ipv6.HEADER_BYTES :]
    if not is_payload(header):
        raise DecodeError("the error is about a message, not about a packet of hosts")
    context = contexts.sending(PayloadHeader.decode(header).tag, pair)
    if context is None:
        raise DecodeError("the error quotes nothing of ours")
    return context.name


def is_on(session: Session, message: icmpv6.Message) -> bool:
    """Whether the quoted packet went by the path that a session uses now."""
    quoted = message.body[UNUSED_OCTETS:]
    return (IPv6Address(quoted[8:24]), IPv6Address(quoted[24:40])) == session.pair
