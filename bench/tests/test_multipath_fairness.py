"""An ordinary connection beside a session of edges that tell each other: who gets what of the path that both use."""

from __future__ import annotations

from bench.multipath.draws import near
from bench.multipath.fairness import ROUTES, Shared, run
from bench.multipath.network import HEADERS

SECONDS = 4.0
# Of packets of 1500 octets.
PAYLOAD = 1 - (HEADERS + 12) / 1500


def seen() -> tuple[Shared, list[float]]:
    draw = next(near(ROUTES, True, 5))
    return run(draw, SECONDS), [route.rate * PAYLOAD for route in draw.routes]


def test_connections_share_what_the_paths_carry() -> None:
    got, (first, second) = seen()
    assert 0.8 * first < got.alone <= first
    assert 0.4 * first < got.beside_its_like <= first / 2
    assert got.beside_session > 0
    assert second < got.session + got.beside_session <= first + second
    assert got == seen()[0], "the same draw, the same run"
