"""Pauses of the garbage collector do not grow with what lives long."""

from __future__ import annotations

import gc
import weakref

from wayname.adapter.garbage_collection import short_collections


class Node:
    """May refer to others."""

    def __init__(self) -> None:
        self.other: Node | None = None


def test_what_survives_a_full_collection_is_not_looked_at_again() -> None:
    with short_collections():
        lasting = [Node() for _ in range(1000)]
        gc.collect()
        here = {id(each) for each in gc.get_objects()}
        assert not any(id(each) in here for each in lasting)
    assert gc.get_freeze_count() == 0
    assert all(gc.is_tracked(each) for each in lasting)


def test_what_was_set_aside_is_freed_when_nothing_refers_to_it() -> None:
    with short_collections():
        lasting = Node()
        gone = weakref.ref(lasting)
        gc.collect()
        del lasting
        assert gone() is None


def test_young_cycles_are_collected() -> None:
    with short_collections():
        one, two = Node(), Node()
        one.other, two.other = two, one
        gone = weakref.ref(one)
        del one, two
        gc.collect()
        assert gone() is None
