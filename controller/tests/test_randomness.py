"""Where numbers come from that no peer may guess: tags, nonces, validators, puzzles, SPIs, identifiers of messages."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from two_networks import TWO_NETWORKS

import wayname
from wayname.adapter import Controller, controller
from wayname.composition.configuration import parse_config


def test_an_edge_draws_from_the_operating_system(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mersenne Twister tells its state by 624 of its outputs; a peer gets that many."""
    given: list[object] = []
    monkeypatch.setattr(controller, "Edge", lambda config, schema, rng, *more, **named: given.append(rng))
    Controller(parse_config(TWO_NETWORKS))
    assert [type(rng) for rng in given] == [random.SystemRandom]


def other_sources(source: str) -> Iterator[str]:
    """Yield what code calls of the module `random`, but for the operating system's generator."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module == "random":
            yield "from random import"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            whose = node.func.value
            if isinstance(whose, ast.Name) and whose.id == "random" and node.func.attr != "SystemRandom":
                yield f"random.{node.func.attr}"


def test_nothing_in_the_controller_has_a_generator_of_its_own() -> None:
    """All draw from what the edge was given: so a lab repeats, and an edge does not."""
    assert list(other_sources("import random\nrandom.random()\nfrom random import choice\nrandom.SystemRandom()"))
    files = sorted(Path(wayname.__file__).parent.rglob("*.py"))
    found = {str(file): [*other_sources(file.read_text("utf-8"))] for file in files}
    assert len(files) > 100 and not {file: uses for file, uses in found.items() if uses}
