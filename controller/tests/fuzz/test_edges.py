"""Whole edges of all kinds take whatever comes, and no mistake of the program shows."""

from __future__ import annotations

import pytest

from fuzz.edges import Site, rounds_of, sites

ROUNDS = 12


@pytest.mark.parametrize("site", sites(), ids=lambda site: site.name)
def test_an_edge_takes_packets_of_every_reason_and_whatever_else_happens(site: Site) -> None:
    # A mistake of the program is raised: see `faults_fail`.
    fuzzed = rounds_of(site, ROUNDS, seed=1)
    assert fuzzed.edge.connected
    assert not fuzzed.edge.faults.counts
