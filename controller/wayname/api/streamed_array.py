"""Arrays that may be long, made and sent a part in a turn: nothing else waits until the last of 100,000 is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import TypeVar

from fastapi.responses import StreamingResponse
from pydantic import BaseModel, TypeAdapter

Answer = TypeVar("Answer", bound=BaseModel)

ITEMS_A_TURN = 128


def streamed_array(
    kind: type[Answer], tellers: Sequence[Callable[[], Answer | None]], within: BaseModel | None = None
) -> StreamingResponse:
    """Answer with what each returns; None is left out, for what is gone by then.

    `within` is what has them as its last field.
    """
    before, after = b"", b""
    if within is not None:
        before, after = within.model_dump_json().encode().removesuffix(b"[]}"), b"}"
    parts = _parts(TypeAdapter(list[kind]), tellers, before, after)  # type: ignore[valid-type]
    return StreamingResponse(parts, media_type="application/json")


async def _parts(
    adapter: TypeAdapter[list[Answer]], tellers: Sequence[Callable[[], Answer | None]], before: bytes, after: bytes
) -> AsyncIterator[bytes]:
    yield before + b"["
    separator = b""
    for start in range(0, len(tellers), ITEMS_A_TURN):
        told = [answer for tell in tellers[start : start + ITEMS_A_TURN] if (answer := tell()) is not None]
        if told:
            yield separator + adapter.dump_json(told)[1:-1]
            separator = b","
        # Sending waits only for a slow reader.
        await asyncio.sleep(0)
    yield b"]" + after
