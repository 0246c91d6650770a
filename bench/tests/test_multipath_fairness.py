"""An ordinary connection beside a session of edges that tell each other: who gets what of the path that both use."""

from __future__ import annotations

from bench.multipath.draws import near
from bench.multipath.fairness import ROUTES, Shared, run
from bench.multipath.network import HEADERS
from bench.multipath.ordinary import STEP

SECONDS = 4.0
# Of packets of 1500 octets.
PAYLOAD = 1 - (HEADERS + 12) / 1500
# Programs say what they received in steps, the first of which began before what is counted.
STEP_MORE = 1 + STEP / SECONDS


def seen() -> tuple[Shared, list[float]]:
    draw = next(near(ROUTES, True, 5))
    return run(draw, SECONDS), [route.rate * PAYLOAD for route in draw.routes]


def test_connections_share_what_the_paths_carry() -> None:
    got, (first, second) = seen()
    assert 0.8 * first < got.alone <= STEP_MORE * first
    assert 0.4 * first < got.beside_its_like <= STEP_MORE * first / 2
    assert got.beside_session > 0
    assert second < got.session + got.beside_session <= STEP_MORE * (first + second)
    assert got == seen()[0], "the same draw, the same run"
