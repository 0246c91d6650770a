"""Makes the HIP host that a plan describes."""

import random

from wayname.hip.esp.suites import SUITES
from wayname_lab.hip.host import HipHost
from wayname_lab.hip.written_down import WrittenDown
from wayname_lab.plan import HostPlan, PlannedHip


def make_hip_host(plan: HostPlan, hip: PlannedHip, seed: int) -> HipHost:
    """Return a host that knows its peers and shares keys with them."""
    return HipHost(
        mac=plan.mac,
        hit=plan.address.ip,
        locators=hip.locators,
        gateway=plan.gateway,
        mtu=plan.mtu,
        seed=seed,
        signalling=WrittenDown(plan.address.ip, hip.locators, hip.peers, SUITES[hip.suite]),
        random_octets=random.Random(f"initialisation vectors {seed}").randbytes,
    )
