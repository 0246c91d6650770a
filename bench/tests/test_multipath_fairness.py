"""An ordinary connection beside a session of edges that tell each other: who gets what of the path that both use."""

from __future__ import annotations

from bench.multipath.draws import near
from bench.multipath.fairness import ROUTES, Shared, run, scenes
from bench.multipath.network import HEADERS
from bench.multipath.ordinary import STEP

# Of packets of 1500 octets.
PAYLOAD = 1 - (HEADERS + 12) / 1500


def seen(joined: bool) -> tuple[Shared, list[float], float]:
    scene = scenes(next(near(ROUTES, True, 5)), True)[joined]
    # Programs say what they received in steps, the first of which began before what is counted.
    step_more = 1 + STEP / scene.seconds
    return run(scene), [route.rate * PAYLOAD for route in scene.draw.routes], step_more


def test_connections_share_what_the_paths_carry() -> None:
    got, (first, second), step_more = seen(joined=False)
    assert 0.8 * first < got.alone <= step_more * first
    assert 0.4 * first < got.beside_its_like <= step_more * first / 2
    assert got.beside_session > 0
    assert second < got.session + got.beside_session <= step_more * (first + second)
    assert got == seen(joined=False)[0], "the same draw, the same run"


def test_connections_share_a_link_that_a_session_takes_for_two_paths() -> None:
    got, routes, step_more = seen(joined=True)
    whole = sum(routes)
    assert 0.8 * whole < got.alone <= step_more * whole
    assert 0.4 * whole < got.beside_its_like <= step_more * whole / 2
    assert got.own_share > 0.4 * whole
    assert got.beside_session > 0
    assert 0.8 * whole < got.session + got.beside_session <= step_more * whole
