"""What proves a list of segments (RFC 8754, section 2.1.2.1)."""

from __future__ import annotations

import hmac
from ipaddress import IPv6Address

from wayname.config.encapsulation.model import HmacForm, SrPolicy
from wayname.wire.segments import HMAC_TLV, LINUX_HMAC_FLAG, ProvenSegments


def proof_of(policy: SrPolicy) -> bytes:
    """Return the HMAC of a policy as it stands in a tunnel: the segments are written with the last one first."""
    segments = b"".join(segment.packed for segment in reversed(policy.segments))
    flags = LINUX_HMAC_FLAG if policy.form is HmacForm.LINUX else 0
    tlv = HMAC_TLV + bytes(2) + policy.key_id.to_bytes(4)
    proven = ProvenSegments(len(policy.segments) - 1, flags, segments, tlv)
    return hmac_of(proven, policy.source, policy.secret, policy.form)


def hmac_of(proven: ProvenSegments, source: IPv6Address, secret: str, form: HmacForm) -> bytes:
    """Return the HMAC of a list by SHA-256."""
    covered = proven.covered_by_linux(source) if form is HmacForm.LINUX else proven.covered(source)
    return hmac.digest(secret.encode(), covered, "sha256")
