"""What sessions and their paths are known by, whatever their protocol."""

from __future__ import annotations

from ipaddress import IPv6Address
from typing import NamedTuple


class SessionKey(NamedTuple):
    """Which session: the identities at both ends, and which instance where one was forked."""

    local: IPv6Address
    peer: IPv6Address
    instance: int = 0


class Pair(NamedTuple):
    """Locators that packets go between."""

    local: IPv6Address
    peer: IPv6Address
