"""The ways to live through the same cut: one network, and what its edges and hosts do in it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from bench.mptcp import only_routing
from wayname_lab.load import find_lab, load_lab
from wayname_lab.model import LabShim6
from wayname_lab.plan import plan_lab
from wayname_lab.planned import Plan

NETWORK = Path(__file__).with_name("sites.toml")
# Whose settings edges have: those of `make run`, and of its sister with HIP.
SHIM6_LAB, HIP_LAB = "two-sites", "hip-edges"


@dataclass(frozen=True, slots=True)
class Way:
    """How hosts are kept connected."""

    name: str
    keeper: str | None = None  # the protocol of the edges; None: they only route
    mptcp: bool = False


PLAIN = Way("plain TCP, one path")
MPTCP = Way("MPTCP at both hosts", mptcp=True)
SHIM6 = Way("TCP behind Shim6 edges", "shim6")
HIP = Way("TCP behind HIP edges", "hip")
WAYS = (PLAIN, MPTCP, SHIM6, HIP)


def network(way: Way) -> Plan:
    """Return the network for a way. Where edges keep no sessions they are routers, with the same addresses."""
    lab = load_lab(NETWORK)
    if way.keeper == "hip":
        return plan_lab(replace(lab, shim6=None, hip_edges=_settings(find_lab(HIP_LAB).hip_edges)))
    plan = plan_lab(replace(lab, shim6=_settings(find_lab(SHIM6_LAB).shim6)))
    return plan if way.keeper else only_routing(plan)


def _settings(found: LabShim6 | None) -> LabShim6:
    if found is None:
        raise ValueError("the lab whose settings are taken has none")
    return found
