"""How often keepalives are due, as each side tells the other (RFC 5534, section 5.3)."""

from __future__ import annotations

from dataclasses import replace

from wayname.reap.timing import KEEPALIVES_IN_TIMEOUT, SEND_TIMEOUT
from wayname.shim6.context import Known, LocalHost
from wayname.shim6.options import KeepaliveTimeout

MOST_SECONDS = 0xFFFF


def tell_send_timeout(host: LocalHost, send_timeout: float) -> LocalHost:
    """Return a host that also tells its peers its send timeout, if it is not the one that they assume.

    The option counts whole seconds, so that less than one cannot be told.
    """
    if send_timeout == SEND_TIMEOUT:
        return host
    seconds = min(max(int(send_timeout), 1), MOST_SECONDS)
    return replace(host, options=(*host.options, KeepaliveTimeout(seconds)))


def keepalive_interval(known: Known, configured: float) -> float:
    """Return how long to be silent at the most: as configured, or less if the peer asks for it."""
    asked = SEND_TIMEOUT if known.keepalive_timeout is None else max(known.keepalive_timeout, 1)
    return min(configured, asked / KEEPALIVES_IN_TIMEOUT)
