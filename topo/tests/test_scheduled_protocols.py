"""Sessions of every protocol go by several paths at once, by the same schedules, on the virtual clock."""

from __future__ import annotations

import pytest
from looking import entries, kinds
from test_many_paths import SUM, goodput, in_use, sending

from wayname.p4_constants import SessionMode
from wayname_lab.load import LABS, parse_lab
from wayname_lab.virtual.lab import VirtualLab

SHIM6 = '[shim6]\nsend_timeout = "500ms"'
HIP = '[hip_edges]\nsend_timeout = "500ms"'
ILNP = "[ilnp]\nbytes = 1"
# Ethernet, and a payload header or a long nonce in its options.
FRAMING = {HIP: 22, ILNP: 30}


def many_paths(protocol: str) -> VirtualLab:
    """Return the lab `many-paths` whose edges speak another protocol, while it sends."""
    text = (LABS / "many-paths.toml").read_text().replace(SHIM6, protocol)
    text = text.replace("framing = 22", f"framing = {FRAMING[protocol]}")
    return sending(VirtualLab(parse_lab(text, "scheduled", "scheduled"), seed=1))


@pytest.mark.parametrize("protocol", [HIP, ILNP], ids=["hip", "ilnp"])
def test_a_connection_gets_the_sum_of_three_providers_until_one_fails(protocol: str) -> None:
    lab = many_paths(protocol)
    # HIP verifies one locator after the other, and TCP finds out what a new path carries.
    lab.run_for(2)
    assert (in_use(lab, "a"), in_use(lab, "b")) == (3, 3)
    [identities] = entries(lab, "a", "identities")
    assert identities["mode"] & SessionMode.SCHEDULE
    assert goodput(lab) > 0.95 * SUM
    since = lab.now
    lab.cut("a-q")
    lab.run_for(3)
    assert in_use(lab) == 2
    told = kinds(lab, "a", since)
    assert "nexthop.down" in told
    assert "session.down" not in told
    assert goodput(lab) > 0.4 * SUM


def test_edges_that_speak_hip_tell_each_other_what_came() -> None:
    """Their packets bear Shim6's payload header; what is agreed on by HIP puts a number before it."""
    text = (LABS / "many-paths.toml").read_text().replace(SHIM6, HIP).replace('"marks"', '"feedback"')
    lab = sending(VirtualLab(parse_lab(text, "scheduled", "scheduled"), seed=1))
    lab.run_for(2)
    for router in "ab":
        [identities] = entries(lab, router, "identities")
        assert identities["mode"] & SessionMode.NUMBER
        assert identities["mode"] & SessionMode.ORDER
    assert (in_use(lab, "a"), in_use(lab, "b")) == (3, 3)
    assert goodput(lab) > 0.95 * SUM
    lab.cut("a-q")
    lab.run_for(3)
    assert goodput(lab) > 0.4 * SUM
