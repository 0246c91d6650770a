"""The reasons in words, and that classes of punts are no reasons."""

from __future__ import annotations

from wayname.p4_constants import PUNT_CLASSES, Drop, Punt, PuntClass
from wayname.pipeline.reasons import class_words, drop_words, punt_words


def test_classes_are_no_reasons_and_have_meters() -> None:
    assert not {int(each) for each in PuntClass} & {int(each) for each in Punt}
    assert all(each < PUNT_CLASSES for each in (*PuntClass, *Punt))


def test_have_words() -> None:
    assert (class_words(37), class_words(2)) == ("of a session that stands", "neighbour unknown")
    assert (drop_words(43), drop_words(255)) == ("no route", "reason 255")
    assert (punt_words(2), punt_words(255)) == ("neighbour unknown", "reason 255")
    assert all(drop_words(reason) == reason.words != "" for reason in Drop)
