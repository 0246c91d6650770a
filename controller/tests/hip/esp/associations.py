"""Two hosts with an association between them, for the tests."""

import random
from ipaddress import IPv6Address

from wayname.hip.esp.associations import Incoming, Outgoing
from wayname.hip.esp.keys import Keys
from wayname.hip.esp.suites import SUITES, Suite, SuiteId

SPI = 0x1234_5678
HIT_A, HIT_B = IPv6Address("2001:20::a"), IPv6Address("2001:20::b")
LOCATOR_A, LOCATOR_B = IPv6Address("2001:db8:1::a"), IPv6Address("2001:db8:2::b")
GCM = SUITES[SuiteId.AES_GCM_16]


def keys_of(suite: Suite, seed: int = 1) -> Keys:
    """Random keys, of a suite's sizes."""
    rng = random.Random(seed)
    return Keys(rng.randbytes(suite.encryption_key), rng.randbytes(suite.integrity_key))


def pair_of(suite: Suite = GCM, spi: int = SPI) -> tuple[Outgoing, Incoming]:
    """Both ends of one direction."""
    rng = random.Random(2)
    keys = keys_of(suite)
    return Outgoing(spi, suite, keys, rng.randbytes), Incoming(spi, suite, keys, rng.randbytes)
