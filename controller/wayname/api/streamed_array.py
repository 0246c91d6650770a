"""Arrays that may be long, made and sent a part in a turn: nothing else waits until the last of 100,000 is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import TypeVar

from fastapi.responses import StreamingResponse
from pydantic import BaseModel, TypeAdapter

Answer = TypeVar("Answer", bound=BaseModel)

ITEMS_A_TURN = 128


def streamed_array(kind: type[Answer], tellers: Sequence[Callable[[], Answer | None]]) -> StreamingResponse:
    """Answer with what each returns; None is left out, for what is gone by then."""
    return StreamingResponse(_parts(TypeAdapter(list[kind]), tellers), media_type="application/json")  # type: ignore[valid-type]


async def _parts(
    adapter: TypeAdapter[list[Answer]], tellers: Sequence[Callable[[], Answer | None]]
) -> AsyncIterator[bytes]:
    yield b"["
    separator = b""
    for start in range(0, len(tellers), ITEMS_A_TURN):
        told = [answer for tell in tellers[start : start + ITEMS_A_TURN] if (answer := tell()) is not None]
        if told:
            yield separator + adapter.dump_json(told)[1:-1]
            separator = b","
        # Sending waits only for a slow reader.
        await asyncio.sleep(0)
    yield b"]"
