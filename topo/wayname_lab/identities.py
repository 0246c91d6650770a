"""Addresses that prove each other, for the hosts of a lab: the same in each run."""

import random
from collections.abc import Sequence
from ipaddress import IPv6Address, IPv6Network

from wayname.identity.generate import generate_hba
from wayname.identity.parameters import MODIFIER_OCTETS, Parameters

# Any modifier will do for Sec 0.
SEC = 0


def provable_address(host: str, subnets: Sequence[IPv6Network]) -> tuple[IPv6Address, Parameters]:
    """Return a host's address in the first of its prefixes, and what proves those in all."""
    rng = random.Random(f"{host} {subnets[0]}")
    modifier = rng.randbytes(MODIFIER_OCTETS)
    return generate_hba(subnets, None, SEC, lambda tail, sec: modifier, lambda address: False, rng)[0]
