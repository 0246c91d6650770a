"""How often keepalives are due, as each side tells the other (RFC 5534, section 5.3).

The RFC's option counts whole seconds. Beside it stands an experimental one that is exact; who sends it understands it.
With all others a session's send timeout is a whole number of seconds, so that they can be asked for enough keepalives.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil

from wayname.session.reap.timing import KEEPALIVES_IN_TIMEOUT, LEAST_SEND_TIMEOUT, SEND_TIMEOUT
from wayname.shim6.context import KnownPeer, LocalHost
from wayname.wire.shim6.options import ExactKeepaliveTimeout, KeepaliveTimeout, Option

MOST_SECONDS = 0xFFFF
MICROSECONDS = 1_000_000


def tell_send_timeout(host: LocalHost, send_timeout: float) -> LocalHost:
    """Return a host that also tells its peers its send timeout; in whole seconds only if it is not what they assume."""
    timeouts: list[Option] = []
    if send_timeout != SEND_TIMEOUT:
        timeouts.append(KeepaliveTimeout(min(ceil(send_timeout), MOST_SECONDS)))
    timeouts.append(ExactKeepaliveTimeout(round(send_timeout * MICROSECONDS)))
    return replace(host, options=(*host.options, *timeouts))


def is_edge(known: KnownPeer) -> bool:
    """Whether a peer is an edge: nobody else tells exact send timeouts."""
    return known.exact_keepalive_timeout is not None


def agreed_send_timeout(known: KnownPeer, configured: float) -> float:
    """Return after how much silence a path to a peer may be left: as configured if the peer can be told so."""
    return configured if known.exact_keepalive_timeout else float(ceil(configured))


def keepalive_interval(known: KnownPeer, configured: float) -> float:
    """Return how long to be silent at the most: as configured, or less if the peer asks for it."""
    if known.exact_keepalive_timeout is not None:
        asked = max(known.exact_keepalive_timeout.microseconds / MICROSECONDS, LEAST_SEND_TIMEOUT)
    elif known.keepalive_timeout is not None:
        asked = max(known.keepalive_timeout.seconds, 1.0)
    else:
        asked = SEND_TIMEOUT
    return min(configured, asked / KEEPALIVES_IN_TIMEOUT)
