"""What can be chosen of nonces: whether all packets bear one, and whether any packet with one makes a session."""

from __future__ import annotations

from dataclasses import replace

from looking import entries, kinds
from test_ilnp_lab import LONGEST_ROUND_TRIP, locator
from test_ilnp_lab_attacks import Attacked, datagram, somebody

from wayname.edge.boundary import DrainProvider, Severity
from wayname.ilnp.nonce import LONG_NONCE, with_nonce
from wayname.ilnp.settings import NONCE_TIME
from wayname_lab.load import find_lab
from wayname_lab.model import Lab, LabIlnp
from wayname_lab.virtual.lab import VirtualLab

RATE = 10  # datagrams a second


def described(**wishes: object) -> Lab:
    """Return the lab with other wishes."""
    lab = find_lab("ilnp")
    return replace(lab, ilnp=replace(lab.ilnp or LabIlnp(), **wishes))  # type: ignore[arg-type]


def nonces_borne(lab: VirtualLab) -> list[int]:
    """Return how long the nonces are that both sites' packets bear; 0 is none."""
    return [path["nonce_length"] for router in ("a", "b") for path in entries(lab, router, "paths")]


def test_packets_bear_the_nonce_at_first_and_again_when_a_session_moves() -> None:
    lab = VirtualLab(described(nonce_use="at-first"), seed=1)
    lab.run_until(1.0)
    lab.command("b1", "udp_receive", port=5001, interval=0.1)
    lab.command("a1", "udp_send", to=str(lab.plan.hosts["b1"].address.ip), port=5001, rate=RATE)
    lab.run_for(2)
    assert nonces_borne(lab) == [LONG_NONCE, LONG_NONCE]
    lab.run_for(NONCE_TIME)
    # By their locators they are known now.
    assert nonces_borne(lab) == [0, 0]
    lab.run_for(1)
    lab.controllers["a"].command(DrainProvider("p", True))
    lab.run_for(0.5)
    assert locator(lab, "a") == "q"
    assert nonces_borne(lab)[0] == LONG_NONCE
    lab.run_for(NONCE_TIME + 1)
    assert nonces_borne(lab) == [0, 0]
    report = lab.events_of("b1", "udp_report")[-1]
    assert report["lost"] == 0 and report["longest_gap_ns"] / 1e9 < 1 / RATE + LONGEST_ROUND_TRIP


def test_the_naive_policy_warns_and_makes_a_session_of_any_packet() -> None:
    site = Attacked(naive=True)
    lab = site.lab
    warned = [event for router, event in lab.events if router == "a" and event.kind == "ilnp.naive"]
    assert [(event.severity, "not to be used" in event.text) for event in warned] == [(Severity.WARNING, True)]
    before = len(entries(lab, "a", "ilnp_nonces"))
    for _ in range(50):
        site.send(with_nonce(datagram(somebody(site.rng), site.a1), site.rng.randbytes(LONG_NONCE)))
    lab.run_for(0.1)
    assert len(entries(lab, "a", "ilnp_nonces")) == before + 50


def test_without_it_the_same_packets_make_none_and_nobody_is_warned() -> None:
    site = Attacked()
    for _ in range(50):
        site.send(with_nonce(datagram(somebody(site.rng), site.a1), site.rng.randbytes(LONG_NONCE)))
    assert site.is_untouched()
    assert "ilnp.naive" not in kinds(site.lab, "a")
