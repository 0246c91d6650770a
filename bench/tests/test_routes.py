"""`python -m bench.routes` on few routes: each step comes to its end. Needs root."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

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
