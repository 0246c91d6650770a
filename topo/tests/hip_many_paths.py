"""The lab `many-paths` with hosts that speak HIP themselves and encrypt; their edges look at what they say."""

from __future__ import annotations

from looking import entries
from test_hip_lab import hit

from wayname.p4_constants import SessionMode
from wayname_lab.load import LABS, parse_lab
from wayname_lab.virtual.lab import VirtualLab

SHIM6 = '[shim6]\nsend_timeout = "500ms"'
HIP = '[hip]\nsuite = "aes_128_cbc_hmac_sha_256"\nedges = "verify"\nsend_timeout = "500ms"'
# Hosts begin when their edges are there, and verify their locators one after the other while pings keep them awake.
STARTED, VERIFIED = 1.0, 3.0


def hip_many_paths(*edges: str, mode: str = "verify", rekey: int | None = None, policy: str = "") -> VirtualLab:
    """Return the lab in which these edges go by feedback; hosts may agree on new keys after so many packets."""
    hip = HIP.replace("verify", mode) + ("" if rekey is None else f"\nrekey = {rekey}")
    text = (LABS / "many-paths.toml").read_text().replace(SHIM6, hip)
    parts = dict(zip(("", "a", "b"), text.split("[edge."), strict=True))
    for edge in edges:
        parts[edge] = parts[edge].replace('source = "marks"', f'source = "feedback"{policy}')
    return VirtualLab(parse_lab("[edge.".join(parts.values()), "reported-esp", "reported-esp"), seed=1)


def talking(lab: VirtualLab) -> VirtualLab:
    """Let pings pass until the hosts know all locators of each other."""
    lab.run_until(STARTED)
    lab.command("a1", "ping", to=hit(lab, "b1"), count=0, interval=0.05)
    lab.run_for(VERIFIED)
    return lab


def sending(lab: VirtualLab) -> VirtualLab:
    """Let one connection send by ESP until it has found out how fast that is."""
    talking(lab)
    lab.command("b1", "tcp_serve", port=5001, interval=0.1)
    lab.command("a1", "tcp_send", to=hit(lab, "b1"), port=5001, buffer=131072)
    lab.run_for(3)
    return lab


def has_mode(lab: VirtualLab, router: str, mode: SessionMode) -> bool:
    """Whether the session on a router's switch has a mode."""
    [identities] = entries(lab, router, "identities")
    return bool(identities["mode"] & mode)
