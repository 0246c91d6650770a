"""What `python -m bench.controller_kill` draws and says, and one kill of it."""

from __future__ import annotations

from threading import Barrier

from bench.controller_kill import LABS, LATEST, PATIENCE, Draw, Seen, drawn, killed, printed


def test_a_seed_draws_the_same_kills() -> None:
    assert drawn("HIP", 30, 7) == drawn("HIP", 30, 7) != drawn("HIP", 30, 8)
    for protocol in LABS:
        kills = drawn(protocol, 30, 7)
        assert {kill.edge for kill in kills} == {"a", "b"}
        assert all(0 <= kill.moment <= LATEST for kill in kills)


def test_who_never_gets_a_session_is_counted() -> None:
    seen = [Seen(1.0, 2.0, 0.1)] * 9 + [Seen(1.0, PATIENCE, 0.1)]
    text = printed({"Shim6": seen})
    assert text[-1] == "Shim6: no session within 20 s after 1 of 10 kills"


def test_a_controller_that_was_killed_comes_back() -> None:
    seen = killed(Draw("HIP", "b", LATEST), Barrier(1))
    assert 0 < seen.away <= seen.session
    assert seen.away < PATIENCE
