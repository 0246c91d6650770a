"""What proves a list of segments (RFC 8754, section 2.1.2.1)."""

from __future__ import annotations

import hmac

from wayname.config.encapsulation.model import Policy


def proof_of(policy: Policy) -> bytes:
    """Return the HMAC of a policy as it stands in a tunnel, by SHA-256.

    It covers the tunnel's source, the number of the last entry, the flags (none), the TLV's 16 bits behind its length
    (none), the key's number, and the segments as they are written: the last one first.
    """
    last_entry = len(policy.segments) - 1
    head = policy.source.packed + bytes([last_entry, 0, 0, 0]) + policy.key_id.to_bytes(4)
    covered = head + b"".join(segment.packed for segment in reversed(policy.segments))
    return hmac.digest(policy.secret.encode(), covered, "sha256")
