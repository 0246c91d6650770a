"""The keys of a pair of associations, out of what the hosts share (RFC 7402, section 7)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import IPv6Address

from wayname.hip.esp.suites import Suite


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of one direction."""

    encryption: bytes = field(repr=False)
    integrity: bytes = field(repr=False)


def draw_keys(draw: Callable[[int], bytes], suite: Suite, local: IPv6Address, remote: IPv6Address) -> tuple[Keys, Keys]:
    """Return the keys for what leaves and for what comes; `draw` hands out the next octets of KEYMAT.

    First are those of the host with the greater HIT, for what it sends.
    """
    greater, lesser = (Keys(draw(suite.encryption_key), draw(suite.integrity_key)) for _ in range(2))
    return (greater, lesser) if local > remote else (lesser, greater)
