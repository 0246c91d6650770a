"""The reasons of the controller are those of the pipeline."""

from __future__ import annotations

import re

from wayname.pipeline.program import REPOSITORY
from wayname.pipeline.reasons import DROP_WORDS, Drop, Punt, drop_words, punt_words

REASONS = (REPOSITORY / "p4src" / "shared" / "reasons.p4").read_text()


def numbered(kind: str) -> dict[str, int]:
    found = re.findall(rf"const {kind.lower()}_reason_t {kind}_(\w+)\s*= (\d+);", REASONS)
    return {name: int(number) for name, number in found if name != "NONE"}


def test_are_those_of_the_pipeline() -> None:
    assert {reason.name: reason.value for reason in Drop} == numbered("DROP")
    assert {reason.name: reason.value for reason in Punt} == numbered("PUNT")


def test_have_words() -> None:
    assert set(DROP_WORDS) == set(Drop)
    assert (drop_words(43), drop_words(255)) == ("no route", "reason 255")
    assert (punt_words(2), punt_words(255)) == ("neighbour unknown", "reason 255")
