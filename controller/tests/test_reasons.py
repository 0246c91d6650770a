"""The reasons of the controller are those of the pipeline."""

from __future__ import annotations

import re

from repository import REPOSITORY

from wayname.pipeline.reasons import (
    CLASS_WORDS,
    DROP_WORDS,
    Drop,
    Punt,
    PuntClass,
    class_words,
    drop_words,
    punt_words,
)

REASONS = (REPOSITORY / "p4src" / "common" / "reasons.p4").read_text()


def numbered(kind: str) -> dict[str, int]:
    found = re.findall(rf"const {kind.lower()}_reason_t {kind}_(\w+)\s*= (\d+);", REASONS)
    return {name: int(number) for name, number in found if name != "NONE"}


def test_are_those_of_the_pipeline() -> None:
    assert {reason.name: reason.value for reason in Drop} == numbered("DROP")
    assert {reason.name: reason.value for reason in Punt} == numbered("PUNT")


def test_classes_are_those_of_the_pipeline_and_no_reasons() -> None:
    found = re.findall(r"const punt_class_t CLASS_(\w+)\s*= (\d+);", REASONS)
    assert {each.name: each.value for each in PuntClass} == {name: int(number) for name, number in found}
    assert not {int(each) for each in PuntClass} & {int(each) for each in Punt}
    assert all(each < 64 for each in (*PuntClass, *Punt))


def test_have_words() -> None:
    assert set(CLASS_WORDS) == set(PuntClass)
    assert (class_words(37), class_words(2)) == ("of a session that stands", "neighbour unknown")
    assert set(DROP_WORDS) == set(Drop)
    assert (drop_words(43), drop_words(255)) == ("no route", "reason 255")
    assert (punt_words(2), punt_words(255)) == ("neighbour unknown", "reason 255")
