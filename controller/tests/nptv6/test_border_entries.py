"""The border's entries on the switch: all taken, known again by the next controller, changed where a provider fails."""

from __future__ import annotations

from collections import Counter

import finsy as fy
from nptv6_site import INSIDE, SITE
from rig import Rig

from wayname.edge.desired_state import key_of

POLICY = """
[[nptv6.policy]]
local = "fd12:3456:789a:10::/64"
protocol = "tcp"
remote_ports = "443-444"
providers = ["q"]
"""


def of_border(rig: Rig) -> Counter[str]:
    """Return how many entries the border's tables hold."""
    tables = ("urpf_sources", "nptv6_destinations", "flow_policies", "hash_buckets", "provider_states", "nptv6_sources")
    return Counter(
        each.table_id for each in rig.read() if isinstance(each, fy.P4TableEntry) and each.table_id in tables
    )


def states(rig: Rig) -> list[int]:
    """Return what the switch holds of providers, the first one's first."""
    found = {
        each["provider"]: each.action.args["now"]
        for each in rig.read()
        if isinstance(each, fy.P4TableEntry)
        and each.table_id == "provider_states"
        and isinstance(each.action, fy.P4TableAction)
    }
    return [found[number] for number in sorted(found)]


def test_the_switch_takes_them_and_the_next_controller_knows_them() -> None:
    rig = Rig(SITE + "[[nptv6]]\n" + INSIDE + POLICY)
    held = of_border(rig)
    assert (held["hash_buckets"], held["flow_policies"], held["nptv6_sources"], held["provider_states"]) == (
        512,
        1,
        2,
        2,
    )
    assert not [event for event in rig.events if event.kind == "write.failed"]
    rig.writes.clear()
    rig.restart_controller()
    written = {key_of(entity)[0] for write in rig.writes for _, entity in write.updates}
    # Nobody answers for the providers here, so what a provider serves changes.
    assert written & set(held) <= {"hash_buckets", "provider_states"}
    assert of_border(rig) == held


def test_a_provider_that_fails_serves_nothing_and_is_given_up_after_a_while() -> None:
    rig = Rig(SITE + "[[nptv6]]\n" + INSIDE + "hold = 3\n" + POLICY)
    assert rig.edge.translation.share("q") == (128 + 256, 128 + 256)
    rig.advance(3)
    down = [event.subject for event in rig.events if event.kind == "provider.down"]
    assert sorted(down) == ["p", "q"], "nobody answers for them here"
    assert (rig.edge.translation.share("p"), rig.edge.translation.share("q")) == ((128, 0), (384, 0))
    assert states(rig) == [1, 1]
    rig.advance(3)
    assert states(rig) == [2, 2]
