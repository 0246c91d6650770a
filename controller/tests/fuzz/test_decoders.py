"""Every decoder takes what is nearly right, and what is nothing at all, and refuses it by errors of decoding alone."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import wayname
from fuzz.mutation import mutated
from fuzz.rounds import EndlessError, ending, rounds
from fuzz.target import REFUSALS, Target
from fuzz.targets import TARGETS
from fuzz.without_target import OF_THE_EDGE, READS_NOTHING
from wayname.wire.errors import DecodeError

# The rooms where octets of others are read.
ROOMS = ("wire", "shim6", "hip", "ilnp", "ioam", "identity", "session", "edge", "composition")
OCTETS = {"bytes", "Packet", "ipv6.Packet", "icmpv6.Message"}
ROUNDS = 150


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_it_reads_what_is_genuine(target: Target) -> None:
    seeds = target.seeds()
    assert seeds
    for octets in seeds:
        try:
            target.read(octets)
        except REFUSALS:
            continue


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_it_refuses_what_is_wrong_and_raises_nothing_else(target: Target) -> None:
    findings, _ = rounds(target, ROUNDS, seed=1)
    assert findings == []


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_it_raises_nothing_else_whatever_is_changed(target: Target) -> None:
    seeds = target.seeds()

    @given(st.randoms(use_true_random=False), st.booleans())
    def holds(rng: random.Random, is_sealed: bool) -> None:
        octets = mutated(seeds, rng)
        try:
            with ending():
                target.read(target.seal(octets) if is_sealed else octets)
        except REFUSALS:
            return

    holds()


def test_a_mistake_is_found() -> None:
    def read(octets: bytes) -> int:
        if not octets:
            raise DecodeError("nothing")
        # One that tells a length of nothing behind it has no first octet.
        return octets[1] if octets[0] else octets[1 : 1 + octets[0]][0]

    findings, refused = rounds(Target("broken", (), lambda: [b"\2ab"], read), 500, seed=1)
    assert refused
    assert {type(finding.error) for finding in findings} == {IndexError}


def test_a_decoder_without_an_end_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuzz.rounds.SECONDS", 0.05)

    def read(octets: bytes) -> None:
        while octets:
            octets = octets[octets[0] :]

    findings, _ = rounds(Target("endless", (), lambda: [b"\1\1\1\1"], read), 100, seed=1)
    assert EndlessError in {type(finding.error) for finding in findings}


def test_every_decoder_is_a_target_or_it_is_said_why_not() -> None:
    covered = {name for target in TARGETS for name in target.covers}
    found = set(takes_octets())
    assert found - covered - READS_NOTHING - OF_THE_EDGE == set(), "give these a target in fuzz/*_targets.py"
    assert (covered | READS_NOTHING | OF_THE_EDGE) - found == set(), "these are not there any more"
    assert not covered & READS_NOTHING


def takes_octets() -> Iterator[str]:
    """Yield the names of all public functions and methods that have octets or a packet among their arguments."""
    for info in pkgutil.walk_packages(wayname.__path__, "wayname."):
        if info.name.split(".")[1] not in ROOMS:
            continue
        module = importlib.import_module(info.name)
        for name, value in vars(module).items():
            if name.startswith("_") or getattr(value, "__module__", None) != module.__name__:
                continue
            if inspect.isfunction(value) and has_octets(value):
                yield f"{module.__name__}.{name}"
            for method, each in vars(value).items() if inspect.isclass(value) else ():
                function = getattr(each, "__func__", each)
                if not method.startswith("_") and inspect.isfunction(function) and has_octets(function):
                    yield f"{module.__name__}.{name}.{method}"


def has_octets(function: Callable[..., Any]) -> bool:
    """Whether one of the arguments is octets or a packet."""
    annotations = (each.annotation for each in inspect.signature(function).parameters.values())
    return any((each if isinstance(each, str) else getattr(each, "__name__", "")) in OCTETS for each in annotations)
