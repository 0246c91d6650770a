"""Controllers that are killed at any step of what they are about, and started again with what they wrote down."""

from __future__ import annotations

import pytest
from hip.edges import HipPair
from hip.network import A1, A2, B1, B2, Network
from hip.test_hip_rekeying import ESP, agree

from wayname.hip.settings import FAILED_TIME
from wayname.hip.states import State

FAST = "send_timeout = 0.3"
# The host that talks is told again and again: its edge asks once more when a failed exchange is forgotten.
PATIENCE = 2 * FAILED_TIME


def settle(pair: HipPair, a: bool, b: bool) -> None:
    """Let the hosts talk on."""
    for _ in range(int(PATIENCE) // 10):
        pair.drive(10.0)
        pair.talk(a, b)


def established() -> HipPair:
    """Return two edges whose hosts have a session."""
    pair = HipPair(FAST)
    pair.talk()
    pair.drive(20)
    assert pair.agrees()
    return pair


def test_two_edges_have_a_session() -> None:
    pair = HipPair()
    pair.talk()
    assert pair.drive(0.045)[:4] == ["I1", "R1", "I2", "R2"]
    pair.drive(20)
    assert pair.agrees()
    assert len(pair.a.only.paths) == len(pair.b.only.paths) == 4


@pytest.mark.parametrize("which", ["a", "b"])
@pytest.mark.parametrize("loses", [False, True])
@pytest.mark.parametrize("step", range(14))
def test_a_controller_killed_at_any_step_of_the_exchange(which: str, loses: bool, step: int) -> None:
    pair = HipPair()
    pair.talk()
    for _ in range(step):
        pair.step()
    if loses:
        # What is under way meets nobody.
        pair.under_way.clear()
    pair.restart(getattr(pair, which))
    settle(pair, True, False)
    assert pair.agrees()
    assert len(pair.a.only.paths) == len(pair.b.only.paths) == 4


@pytest.mark.parametrize("step", range(0, 14, 2))
def test_both_controllers_killed_at_any_step_of_the_exchange(step: int) -> None:
    pair = HipPair()
    pair.talk(True, True)
    for _ in range(step):
        pair.step()
    for side in (pair.a, pair.b):
        pair.restart(side)
    settle(pair, True, True)
    assert pair.agrees()


@pytest.mark.parametrize("which", ["a", "b"])
@pytest.mark.parametrize("step", range(10))
def test_a_controller_killed_at_any_step_of_a_renewal(which: str, step: int) -> None:
    pair = established()
    tags = {entry["tag"] for side in (pair.a, pair.b) for entry in side.entries("context_tags")}
    pair.renew(pair.a)
    for _ in range(step):
        pair.step()
    pair.restart(getattr(pair, which))
    settle(pair, True, False)
    assert pair.agrees()
    assert tags.isdisjoint({entry["tag"] for side in (pair.a, pair.b) for entry in side.entries("context_tags")})


@pytest.mark.parametrize("which", ["a", "b"])
@pytest.mark.parametrize("step", range(6))
def test_a_controller_killed_at_any_step_of_an_end_leaves_no_half(which: str, step: int) -> None:
    pair = established()
    pair.close(pair.a)
    for _ in range(step):
        pair.step()
    pair.restart(getattr(pair, which))
    pair.drive(60)
    # Either there is a session again at both ends, or there is one at none.
    assert pair.agrees() or pair.a.entries("identities") == pair.b.entries("identities") == []


@pytest.mark.parametrize("which", ["a", "b"])
@pytest.mark.parametrize("step", range(10))
def test_a_host_killed_at_any_step_of_updates_sets_up_anew(which: str, step: int) -> None:
    network = Network(ESP).established()
    network.move(network.a, A1, A2)
    network.move(network.b, B1, B2)
    network.a.endpoint.rekey(network.names, network.now)
    network.collect()
    for _ in range(step):
        network.step()
    side = getattr(network, which)
    network.restart(side)
    network.connect(side)
    network.drive(100.0)
    assert agree(network)
    for one in (network.a, network.b):
        association = network.association(one)
        assert (association.state, association.updates, association.rekeying) == (State.ESTABLISHED, {}, None)
        assert len(list(association.peer.active(network.now))) == 2


def test_what_is_written_down_are_no_keys_and_no_counters_of_peers() -> None:
    # RFC 7401, section 6.16.
    pair = established()
    for side in (pair.a, pair.b):
        kinds = {key.split()[0] for key in side.memory}
        assert {"hip"} <= kinds <= {"hip", "session", "sessions"}
        for key, value in side.memory.items():
            if key.startswith("hip ") and isinstance(value, dict):
                assert set(value) <= {"number", "generation"}
