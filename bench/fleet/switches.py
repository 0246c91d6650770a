"""Simulated switches at one socket, told apart by their device ids: `python -m bench.fleet.switches SOCKET`.

Behind each one is its provider's router.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from typing import Any, cast

import grpc
import grpc.aio
from finsy.proto import p4r

from bench.fleet.provider_router import ProviderRouter
from wayname_lab.fleet.network import Refused
from wayname_lab.fleet.switch import SERVICE, STREAM, KeptSwitch

REQUESTS: dict[str, Any] = {
    "Write": p4r.WriteRequest,
    "Read": p4r.ReadRequest,
    "SetForwardingPipelineConfig": p4r.SetForwardingPipelineConfigRequest,
    "GetForwardingPipelineConfig": p4r.GetForwardingPipelineConfigRequest,
}


class _LiveStream:
    """A stream of gRPC as a `KeptSwitch` sees it."""

    def __init__(self) -> None:
        self.heard: Callable[[Any], None] = lambda _message: None
        self.closed: Callable[[], None] = lambda: None
        self.told: asyncio.Queue[Any] = asyncio.Queue()

    def send(self, message: Any) -> None:
        self.told.put_nowait(message)

    def end(self, why: Refused) -> None:
        self.told.put_nowait(why)


class _Controllers:
    """Whoever asks; switches do not tell them apart but by election ids."""

    def __init__(self) -> None:
        self.name = "controller"


class Switches(grpc.GenericRpcHandler):
    """Makes a switch for each device that is asked for."""

    def __init__(self) -> None:
        self._switches: dict[int, KeptSwitch] = {}
        self._controllers = _Controllers()

    def service(self, details: Any) -> Any:
        """Handle whatever is called."""
        if details.method == STREAM:
            return grpc.stream_stream_rpc_method_handler(self._stream)
        if details.method == SERVICE + "Read":
            return grpc.unary_stream_rpc_method_handler(self._read)
        return grpc.unary_unary_rpc_method_handler(self._unary(details.method))

    def _switch(self, device: int) -> KeptSwitch:
        return self._switches.setdefault(device, KeptSwitch())

    async def _asked(self, method: str, octets: bytes, context: Any) -> Any:
        request = REQUESTS[method.removeprefix(SERVICE)].FromString(octets)
        answers: list[Any] = []
        self._switch(request.device_id).ask(self._controllers, method, request, answers.append)
        [answer] = answers
        if isinstance(answer, Refused):
            context.set_trailing_metadata(tuple(answer.trailing))
            await context.abort(answer.code, answer.details)
        return answer

    def _unary(self, method: str) -> Callable[..., Any]:
        async def ask(octets: bytes, context: Any) -> bytes:
            return cast(bytes, (await self._asked(method, octets, context)).SerializeToString())

        return ask

    async def _read(self, octets: bytes, context: Any) -> AsyncIterator[bytes]:
        for each in await self._asked(SERVICE + "Read", octets, context):
            yield each.SerializeToString()

    async def _stream(self, requests: AsyncIterator[bytes], context: Any) -> None:
        stream = _LiveStream()

        async def hear() -> None:
            opened, router = False, ProviderRouter()
            async for octets in requests:
                message = p4r.StreamMessageRequest.FromString(octets)
                if message.HasField("packet"):
                    for said in router.messages(message.packet):
                        await context.write(said.SerializeToString())
                    continue
                if not opened:
                    self._switch(message.arbitration.device_id).open(stream)
                    opened = True
                stream.heard(message)

        hearing = asyncio.create_task(hear())
        try:
            while True:
                told = await stream.told.get()
                if isinstance(told, Refused):
                    await context.abort(told.code, told.details)
                await context.write(told.SerializeToString())
        finally:
            hearing.cancel()
            stream.closed()


async def serve(address: str) -> None:
    """Serve until cancelled."""
    server = grpc.aio.server(options=[("grpc.max_receive_message_length", -1)])
    server.add_generic_rpc_handlers((Switches(),))
    server.add_insecure_port(address)
    await server.start()
    print("ready", flush=True)
    await server.wait_for_termination()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1]))
