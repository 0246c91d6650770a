"""Secrets of responders that outlive a controller: what was answered before it was killed is known again after."""

from __future__ import annotations

import random
from collections.abc import Mapping

from wayname.edge.boundary import Json
from wayname.edge.outputs import Outputs

SECRET_OCTETS = 32


def lasting_secret(key: str, remembered: Mapping[str, Json], rng: random.Random, outputs: Outputs) -> bytes:
    """Return what an earlier controller wrote down under a key, or draw a secret and write it down."""
    written = remembered.get(key)
    if isinstance(written, str):
        return bytes.fromhex(written)
    secret = rng.randbytes(SECRET_OCTETS)
    outputs.remember(key, secret.hex())
    return secret
