"""Long arrays of the API are made a part in a turn."""

from __future__ import annotations

import asyncio
from functools import partial

from pydantic import BaseModel, TypeAdapter

from wayname.api.streamed_array import ITEMS_A_TURN, streamed_array

MANY = 5 * ITEMS_A_TURN + 1


class Answer(BaseModel):
    """Something that is told."""

    number: int
    name: str | None = None


async def told(items: list[int], missing: frozenset[int] = frozenset()) -> tuple[list[Answer], int]:
    """Return what came, and how often something else had its turn meanwhile."""
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    beside = asyncio.ensure_future(other())
    tellers = [partial(lambda number: None if number in missing else Answer(number=number), item) for item in items]
    answer = streamed_array(Answer, tellers)
    text = b"".join([bytes(part) async for part in answer.body_iterator])  # type: ignore[arg-type]
    beside.cancel()
    return TypeAdapter(list[Answer]).validate_json(text), turns


async def test_all_items_are_told_in_order_and_others_have_their_turns() -> None:
    answers, turns = await told(list(range(MANY)))
    assert [answer.number for answer in answers] == list(range(MANY))
    assert turns >= MANY // ITEMS_A_TURN


async def test_what_is_gone_leaves_no_hole() -> None:
    gone = frozenset(range(ITEMS_A_TURN)) | {ITEMS_A_TURN + 1, MANY - 1}
    answers, _ = await told(list(range(MANY)), gone)
    assert [answer.number for answer in answers] == [number for number in range(MANY) if number not in gone]
    assert (await told([], frozenset()))[0] == []
    assert (await told([1], frozenset({1})))[0] == []


class Whole(BaseModel):
    """Something whose last field is long."""

    name: str
    answers: list[Answer]


async def test_an_array_is_the_last_field_of_what_it_is_within() -> None:
    for count in (0, 1, MANY):
        tellers = [partial(Answer, number=number, name="]}") for number in range(count)]
        answer = streamed_array(Answer, tellers, Whole(name="[]}", answers=[]))
        text = b"".join([bytes(part) async for part in answer.body_iterator])  # type: ignore[arg-type]
        assert Whole.model_validate_json(text) == Whole(name="[]}", answers=[teller() for teller in tellers])
