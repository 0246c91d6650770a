"""Answers to probes of providers' targets, and who reads them."""

from __future__ import annotations

import random
from ipaddress import IPv6Address

from tracking.tracked_site import genuine

from wayname.config.track import ProbeKind, Track, TrackTarget
from wayname.edge.tracking.probes import Probe, new_probe
from wayname.edge.tracking.target import TrackedTarget
from wayname.wire.ipv6 import Packet

SOURCE = IPv6Address("2001:db8:101:ffff::1")
TARGETS = tuple(
    TrackTarget(address=IPv6Address("2001:db8:f::1"), probe=kind, **more)
    for kind, more in (
        (ProbeKind.ICMP, {}),
        (ProbeKind.TCP, {"port": 443}),
        (ProbeKind.DNS, {"name": "www.example.org."}),
    )
)


def _probes() -> list[Probe]:
    rng = random.Random(1)
    return [new_probe(target, SOURCE, rng) for target in TARGETS]


def answers() -> list[bytes]:
    """Return what targets that work answer."""
    found = (genuine(probe.packet) for probe in _probes())
    return [packet.encode() for packet in found if packet is not None]


def take(octets: bytes) -> None:
    """Have each kind of target read a packet."""
    packet = Packet.decode(octets)
    for target, probe in zip(TARGETS, _probes(), strict=True):
        tracked = TrackedTarget(target, Track(targets=(target,)), is_up=True)
        tracked.sent(probe, 0.0)
        tracked.answered(packet, 0.1)
