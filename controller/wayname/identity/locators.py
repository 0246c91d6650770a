"""A host's locators, with what proves them."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import IPv6Address

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

from wayname.identity.parameters import Parameters


@dataclass(frozen=True, slots=True)
class ProvableLocators:
    """Where a host is reached: its set proves its own addresses, and the key signs for what came later."""

    identity: IPv6Address
    parameters: Parameters
    locators: tuple[IPv6Address, ...]
    generation: int
    # Its public half is among the parameters.
    key: RSAPrivateKey = field(repr=False, compare=False)
