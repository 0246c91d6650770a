"""What an endpoint does for those of whom nothing is proven, by prefix and in all.

R1 and R1bis are some octets longer than the shortest message that they answer, and an Error quotes what it is about:
those octets are rationed. An I2 is the first message whose proofs are looked at, and a signature is dear.
"""

from __future__ import annotations

import random

from wayname.token_buckets import PrefixTokenBuckets, Rate

# Octets.
LONGER, LONGER_IN_ALL = Rate(1024, 4096), Rate(8192, 16_384)
# I2s whose validator is ours.
PROOFS, PROOFS_IN_ALL = Rate(50, 200), Rate(500, 1000)


class Limits:
    """Buckets for answers that are longer than what they answer, and for proofs."""

    def __init__(self, rng: random.Random) -> None:
        self.longer = PrefixTokenBuckets(rng, LONGER, LONGER_IN_ALL)
        self.proofs = PrefixTokenBuckets(rng, PROOFS, PROOFS_IN_ALL)
