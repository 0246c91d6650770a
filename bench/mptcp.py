"""Linux's MPTCP in a lab: edges that only route, and hosts with an address of each of their providers."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv6Address
from pathlib import Path
from typing import Literal

from bench.in_namespaces import inside
from wayname_lab.planned import HostPlan, Plan
from wayname_lab.running import RunningLab

# Where it is missing the kernel has no MPTCP.
IN_KERNEL = Path("/proc/sys/net/mptcp")
IN_SITE = 0x5EC
Use = Literal["subflow", "signal"]
LIMITS = ("subflows", "4", "add_addr_accepted", "4")


def only_routing(plan: Plan) -> Plan:
    """Return the plan without what its edges do for hosts; they have the same addresses."""
    routers = {name: replace(router, shim6=(), configuration="") for name, router in plan.routers.items()}
    return replace(plan, routers=routers)


def other_addresses(plan: Plan, host: HostPlan) -> list[IPv6Address]:
    """Return a host's addresses of all providers but the first."""
    site = next(each for each in plan.routers[host.edge].interfaces if each.vlan == host.vlan)
    return [of_edge.network[IN_SITE] for of_edge in site.addresses[1:]]


async def join_providers(lab: RunningLab, host: HostPlan, use: Use | None) -> None:
    """Give a host an address of each other provider, which MPTCP begins subflows from, or tells its peer.

    Without a use of its own an address is the one from which subflows go to the peer's of the same provider.
    """
    await inside(lab, host.name, "ip", "mptcp", "limits", "set", *LIMITS)
    for address in other_addresses(lab.plan, host):
        await inside(lab, host.name, "ip", "address", "add", f"{address}/64", "dev", "eth0", "nodad")
        if use is not None:
            await inside(lab, host.name, "ip", "mptcp", "endpoint", "add", str(address), "dev", "eth0", use)
