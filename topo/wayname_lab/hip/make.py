"""Makes a HIP host of what a lab's plan says of it."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv6Address

from wayname.hip.esp.suites import SuiteId
from wayname_lab.hip.exchanged import Exchanged
from wayname_lab.hip.host import HipHost
from wayname_lab.hip.identities import identity_of_host


@dataclass(frozen=True, slots=True)
class Described:
    """A host that knows where its peers are, as if it had asked the DNS."""

    name: str
    mac: str
    gateway: IPv6Address
    mtu: int
    seed: int
    suite: SuiteId
    rekey: int  # packets after which it agrees on new keys
    locators: tuple[IPv6Address, ...]
    peers: Mapping[IPv6Address, tuple[IPv6Address, ...]]


def make_hip_host(described: Described) -> HipHost:
    """Return the host; with the same seed and the same inputs it does the same, but for its signatures."""
    identity = identity_of_host(described.name)
    rng = random.Random(f"{described.name} {described.seed}")
    return HipHost(
        mac=described.mac,
        hit=identity.hit,
        locators=described.locators,
        gateway=described.gateway,
        mtu=described.mtu,
        seed=described.seed,
        signalling=Exchanged(identity, described.locators, described.peers, described.suite, rng),
        random_octets=rng.randbytes,
        rekey=described.rekey,
    )
