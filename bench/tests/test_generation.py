"""What figure 6 prints of what it measured, and of what it only estimates."""

from __future__ import annotations

import random

import pytest

from bench.shim6 import generation


def test_each_time_and_rate_has_its_spread_and_an_estimate_says_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert generation.ROUNDS >= 30 <= generation.TRIALS
    for name, few in (("ROUNDS", 3), ("TRIALS", 2), ("NATIVE_TRIES", 1 << 12), ("PYTHON_TRIES", 1 << 8)):
        monkeypatch.setattr(generation, name, few)
    # A search with Sec 1 takes 65536 tries in the mean.
    monkeypatch.setattr(generation.Generator, "make", lambda self, kind, sec: self.rng.uniform(1, 2) + sec)
    result = generation.run(7, full=False)
    times, rates = "\n".join(result.text).split("\n\n")
    for text in (times, rates):
        assert all(head in text.splitlines()[0] for head in ("10 %", "90 %", "worst"))
    assert "sec 2 (estimated)" in times and "sec 2 (estimated)" in result.panels[0].groups
    assert isinstance(result.data, dict)
    assert result.data["measured"]["seconds, sec 0 and 1"]["HBA"]["1"][1]["draws"] == 2
    assert set(result.data) == {"measured", "estimated", "paper"}


def test_rates_of_a_seed_are_of_that_many_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generation, "NATIVE_TRIES", 1 << 8)
    monkeypatch.setattr(generation, "PYTHON_TRIES", 1 << 4)
    found = generation.rates("HBA", (1,), random.Random(7))
    assert {name: of.draws for name, of in found.items()} == {"Python": 30, "1": 30, "1 / Python": 30}
    assert all(of.worst <= of.tenth <= of.median <= of.ninetieth for of in found.values())
