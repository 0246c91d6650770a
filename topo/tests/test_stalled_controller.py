"""A controller that got no processor for a while calls nobody silent who answered meanwhile."""

from __future__ import annotations

from wayname_lab.load import find_lab
from wayname_lab.virtual.clock import MILLISECOND
from wayname_lab.virtual.lab import VirtualLab

CUT = 3.0
# A next hop that missed probes is asked again after so long.
IN_DOUBT = 0.125


def cut_once() -> VirtualLab:
    """Return a lab that has just lost a link."""
    lab = VirtualLab(find_lab("two-sites"), seed=1)
    lab.run_until(CUT)
    lab.cut("a-p")
    return lab


def when_down(lab: VirtualLab) -> list[float]:
    """Return when controller a found a next hop dead."""
    return [event.time for whose, event in lab.events if whose == "a" and event.kind == "nexthop.down"]


def test_the_last_probe_before_a_verdict_is_asked_again_after_a_stall() -> None:
    dead = cut_once()
    dead.run_for(3)
    (verdict,) = when_down(dead)

    lab = cut_once()
    last_probe = verdict - IN_DOUBT
    lab.run_until(last_probe - 0.01)
    lab.restore("a-p")
    lab.run_until(last_probe + 0.005)
    # Its answer arrives while the controller stands still, and the controller wakes up with its timers first.
    lab.controllers["a"].stall(900 * MILLISECOND)
    lab.run_for(3)
    assert when_down(lab) == []


def test_a_dead_next_hop_is_found_after_a_stall() -> None:
    lab = cut_once()
    lab.controllers["a"].stall(900 * MILLISECOND)
    lab.run_for(4)
    assert len(when_down(lab)) == 1
