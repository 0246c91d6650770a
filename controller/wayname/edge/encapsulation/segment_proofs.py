"""Verifies HMACs of segment lists (RFC 8754, section 2.1.2) that segments of this router ask for.

The switch passes on the first packet along a list that it does not know. If the HMAC is right the list is put on the
switch, and the packet goes on; else it is dropped here. Lists that are verified are bounded by the /48 of their source
and in all: whoever has a key and invents lists has no others' room.
"""

from __future__ import annotations

import hmac
from collections import Counter

import finsy as fy

from wayname.config.encapsulation.model import HmacKey
from wayname.edge.desired_state import Key, key_of
from wayname.edge.encapsulation.proofs import hmac_of
from wayname.edge.links import Links, ReceivedPacket
from wayname.edge.outputs import Outputs
from wayname.edge.rate_limited_events import RateLimitedEvents
from wayname.pipeline.encapsulation import MOST_PROVEN_OCTETS, verified_segments
from wayname.token_buckets import ADDRESS_BITS, PREFIX_BITS
from wayname.wire.errors import DecodeError
from wayname.wire.segments import ProvenSegments

MOST = 4096
MOST_OF_PREFIX = 512
# A list along which nothing went for so long is forgotten, and verified anew.
IDLE = 60.0
# Packets that were on their way to the controller when the list was put go on too.
UNDER_WAY = 1.0


class SegmentProofs:
    """The lists that were verified by the keys of now."""

    def __init__(self, links: Links, outputs: Outputs) -> None:
        self._links = links
        self._outputs = outputs
        self._rate_limited_events = RateLimitedEvents(outputs)
        self._keys: dict[int, HmacKey] = {}
        self._verified: dict[Key, tuple[fy.P4TableEntry, int, float]] = {}
        self._of_prefix: Counter[int] = Counter()

    def set(self, keys: tuple[HmacKey, ...]) -> None:
        """Verify by these keys; what was verified by others is verified anew."""
        changed = {key.number: key for key in keys}
        if changed != self._keys:
            self._keys = changed
            for known in list(self._verified):
                self._forget(known)

    def packet(self, arrival: ReceivedPacket, now: float) -> None:
        """Verify the HMAC of a packet that is not known; DecodeError is raised if it is not right."""
        source = arrival.packet.source
        try:
            proven = self._proven(arrival)
            self._take(verified_segments(source, proven, IDLE), int(source) >> ADDRESS_BITS - PREFIX_BITS, now)
        except DecodeError as wrong:
            text = f"a packet of {source} to segment {arrival.packet.destination} was dropped: {wrong}"
            self._rate_limited_events.tell(now, "segments.refused", source, text)
            raise
        # The entry comes before the packet that needs it.
        self._links.submit(arrival.original)

    def idle(self, entry: fy.P4TableEntry) -> None:
        """Nothing went along a list for long."""
        self._forget(key_of(entry))

    def _proven(self, arrival: ReceivedPacket) -> ProvenSegments:
        proven = ProvenSegments.find(arrival.packet)
        key = self._keys.get(proven.key_id)
        if len(proven.segments) > MOST_PROVEN_OCTETS:
            raise DecodeError("its list has more segments than are verified")
        if key is None:
            raise DecodeError(f"its HMAC is by key {proven.key_id}, which is not known")
        if not hmac.compare_digest(hmac_of(proven, arrival.packet.source, key.secret, key.form), proven.hmac):
            raise DecodeError(f"its HMAC is not that of key {proven.key_id}")
        return proven

    def _take(self, entry: fy.P4TableEntry, prefix: int, now: float) -> None:
        key = key_of(entry)
        known = self._verified.get(key)
        if known is not None:
            if now > known[2] + UNDER_WAY:
                # Sent back to the switch, it would only come again.
                raise DecodeError("its list is verified, and the switch does not know it")
            return
        if len(self._verified) >= MOST or self._of_prefix[prefix] >= MOST_OF_PREFIX:
            raise DecodeError("as many lists are verified already as there is room for")
        self._of_prefix[prefix] += 1
        self._verified[key] = entry, prefix, now
        self._outputs.desired.put(entry)

    def _forget(self, key: Key) -> None:
        found = self._verified.pop(key, None)
        if found is not None:
            entry, prefix, _ = found
            self._of_prefix[prefix] -= 1
            if not self._of_prefix[prefix]:
                del self._of_prefix[prefix]
            self._outputs.desired.remove(entry)
