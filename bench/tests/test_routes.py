"""`python -m bench.routes` and `bench.routes.over_bgp` on few routes: each step comes to its end. Needs root."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from bench.routes import bgp_site, carriers, over_bgp, restarts
from bench.routes.__main__ import main
from harness.namespaces import missing

pytestmark = pytest.mark.skipif(missing() is not None, reason=f"needs {missing()}")


def test_few_routes_come_and_go() -> None:
    asked = CliRunner().invoke(main, ["--routes", "20", "--draws", "2"], catch_exceptions=False)
    assert "20 routes announced" in asked.output
    assert "one route withdrawn" in asked.output
    assert "next hop of all routes fails (carrier)" in asked.output
    assert "controller killed: " in asked.output
    assert "all routes withdrawn" in asked.output


@pytest.mark.skipif(missing(tap=True) is not None, reason=f"needs {missing(tap=True)}")
def test_who_tells_first_of_a_lost_carrier() -> None:
    asked = CliRunner().invoke(carriers.main, ["--routes", "50", "--cuts", "2"], catch_exceptions=False)
    assert [line.split("  ")[0] for line in asked.output.splitlines()[1:]] == ["the switch", "Linux"]


def test_a_switch_is_restarted_under_packets() -> None:
    asked = CliRunner().invoke(restarts.main, ["--restarts", "1"], catch_exceptions=False)
    assert "packets lost, with --state" in asked.output
    assert "packets lost, without" in asked.output
    assert ["packets", "lost,", "hot", "0.0"] in [line.split()[:4] for line in asked.output.splitlines()]
    assert ", 0 of them twice" in asked.output


@pytest.mark.skipif(bgp_site.missing() is not None, reason=str(bgp_site.missing()))
def test_few_routes_of_two_providers_come_and_go() -> None:
    few = ["--routes", "50", "--draws", "1", "--cuts", "1", "--withdrawals", "1"]
    asked = CliRunner().invoke(over_bgp.main, few, catch_exceptions=False)
    assert "50 routes announced by A" in asked.output
    assert "all routes: A's link loses its carrier" in asked.output
    for what in ("controller", "bgpd of the edge", "switch"):
        assert f"{what} killed and started again" in asked.output
