"""What proves a list of segments (RFC 8754, section 2.1.2.1)."""

from __future__ import annotations

import hmac

from wayname.config.encapsulation.model import Policy
from wayname.wire.segments import HMAC_TLV, ProvenSegments


def proof_of(policy: Policy) -> bytes:
    """Return the HMAC of a policy as it stands in a tunnel, by SHA-256.

    It covers the tunnel's source, the number of the last entry, the flags (none), the TLV's 16 bits behind its length
    (none), the key's number, and the segments as they are written: the last one first.
    """
    segments = b"".join(segment.packed for segment in reversed(policy.segments))
    tlv = HMAC_TLV + bytes(2) + policy.key_id.to_bytes(4)
    covered = ProvenSegments(len(policy.segments) - 1, 0, segments, tlv).covered(policy.source)
    return hmac.digest(policy.secret.encode(), covered, "sha256")
