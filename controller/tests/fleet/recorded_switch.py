"""A switch whose P4Runtime is recorded on its way: who was heard, who wrote, and what the switch said to it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import grpc
import grpc.aio
from finsy.proto import p4r

WRITES: dict[str, Any] = {
    "/p4.v1.P4Runtime/Write": p4r.WriteRequest,
    "/p4.v1.P4Runtime/SetForwardingPipelineConfig": p4r.SetForwardingPipelineConfigRequest,
}
STREAM = "/p4.v1.P4Runtime/StreamChannel"
_LARGE = [("grpc.max_receive_message_length", -1), ("grpc.max_metadata_size", 64 * 1024)]


@dataclass(frozen=True, slots=True)
class Written:
    """A request that changes something: when, by whom, and whether the switch carried it out."""

    at: float
    election_id: int
    accepted: bool


class RecordedSwitch(grpc.GenericRpcHandler):
    """Passes everything on, octet by octet."""

    def __init__(self, address: str) -> None:
        self.writes: list[Written] = []
        self.packets: list[Written] = []
        self._channel: Any = grpc.aio.insecure_channel(address, _LARGE)

    def service(self, details: Any) -> Any:
        """Handle whatever is called."""
        method = details.method
        if method == STREAM:
            return grpc.stream_stream_rpc_method_handler(self._stream)
        if method in ("/p4.v1.P4Runtime/Read",):
            return grpc.unary_stream_rpc_method_handler(self._read(method))
        return grpc.unary_unary_rpc_method_handler(self._ask(method))

    def _ask(self, method: str) -> Callable[..., Any]:
        async def ask(request: bytes, context: Any) -> bytes:
            form = WRITES.get(method)
            sender = _number(form.FromString(request).election_id) if form else 0
            try:
                answer: bytes = await self._channel.unary_unary(method)(request)
            except grpc.aio.AioRpcError as error:
                if form:
                    self.writes.append(
                        Written(time.monotonic(), sender, error.code() is not grpc.StatusCode.PERMISSION_DENIED)
                    )
                context.set_trailing_metadata(error.trailing_metadata() or ())
                await context.abort(error.code(), error.details() or "")
                raise AssertionError from None
            if form:
                self.writes.append(Written(time.monotonic(), sender, True))
            return answer

        return ask

    def _read(self, method: str) -> Callable[..., Any]:
        async def read(request: bytes, context: Any) -> AsyncIterator[bytes]:
            try:
                async for answer in self._channel.unary_stream(method)(request):
                    yield answer
            except grpc.aio.AioRpcError as error:
                await context.abort(error.code(), error.details() or "")

        return read

    async def _stream(self, requests: AsyncIterator[bytes], context: Any) -> AsyncIterator[bytes]:
        sender = 0

        async def recorded() -> AsyncIterator[bytes]:
            nonlocal sender
            async for octets in requests:
                message = p4r.StreamMessageRequest.FromString(octets)
                if message.HasField("arbitration"):
                    sender = _number(message.arbitration.election_id)
                elif message.HasField("packet"):
                    self.packets.append(Written(time.monotonic(), sender, True))
                yield octets

        call = self._channel.stream_stream(STREAM)(recorded())
        try:
            async for answer in call:
                yield answer
        except grpc.aio.AioRpcError as error:
            await context.abort(error.code(), error.details() or "")
        finally:
            call.cancel()

    async def close(self) -> None:
        """Let go of the switch."""
        await self._channel.close()


def _number(election_id: Any) -> int:
    return int(election_id.high << 64 | election_id.low)


@asynccontextmanager
async def recorded(address: str, port: int) -> AsyncIterator[RecordedSwitch]:
    """Record what is asked at a port of the switch at an address."""
    handler = RecordedSwitch(address)
    server = grpc.aio.server(options=_LARGE)
    server.add_generic_rpc_handlers((handler,))
    server.add_insecure_port(f"127.0.0.1:{port}")
    await server.start()
    try:
        yield handler
    finally:
        await server.stop(0)
        await handler.close()
        await asyncio.sleep(0)
