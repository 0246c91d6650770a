"""The trace of one packet from a switch that has them, beside P4Runtime at the same address.

The service stands in switch/crates/proto/wayname/trace/v1/trace.proto. The few fields that are wanted of its messages
are made here, so that no code has to be generated.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import grpc
import grpc.aio
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from wayname.adapter.client import OPTIONS
from wayname.config.model import SwitchConfig
from wayname.tls_files import TlsError, credentials

PACKAGE = "wayname.trace.v1"
# Seconds for the switch to say that it watches, and then for the packet.
WITHIN = 5.0


class NoTracesError(Exception):
    """The switch has no traces, as BMv2 has none."""


class NoTraceError(Exception):
    """Why there is no trace of a packet, in one line."""


async def trace_packet(
    config: SwitchConfig, packets: str, submit: Callable[[], Awaitable[object]] | None = None
) -> dict[str, Any]:
    """Watch the packets of a filter, have one submitted if asked to, and return the trace of the first that comes."""
    request, response = _messages()
    async with _channel(config) as channel:
        watch = channel.unary_stream(
            f"/{PACKAGE}.PacketTraces/Watch",
            request_serializer=request.SerializeToString,
            response_deserializer=response.FromString,
        )
        try:
            async with asyncio.timeout(WITHIN):
                # The first message has no trace: it says that from now on packets are traced.
                call = watch(request(filter=packets))
                await call.read()
                if submit is not None:
                    await submit()
                message: Any = await call.read()
        except TimeoutError:
            raise NoTraceError(f"the switch traced no such packet within {WITHIN:g} s") from None
        except grpc.aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.UNIMPLEMENTED:
                raise NoTracesError from None
            raise NoTraceError(error.details() or error.code().name) from None
    if message is grpc.aio.EOF:
        raise NoTraceError("the switch ended the trace")
    trace: dict[str, Any] = json.loads(message.trace)
    return trace


def _channel(config: SwitchConfig) -> grpc.aio.Channel:
    options = OPTIONS if config.address.startswith("unix:") else None
    if config.tls is None or config.address.startswith("unix:"):
        return grpc.aio.insecure_channel(config.address, options=options)
    try:
        files = credentials(config.tls)
    except TlsError as error:
        raise NoTraceError(str(error)) from None
    secured = files.to_client_credentials()
    return grpc.aio.secure_channel(config.address, secured)


def _messages() -> tuple[Any, Any]:
    """The classes of WatchRequest and WatchResponse."""
    file = descriptor_pb2.FileDescriptorProto(name="wayname/trace/v1/trace.proto", package=PACKAGE, syntax="proto3")
    text = descriptor_pb2.FieldDescriptorProto.TYPE_STRING
    optional = descriptor_pb2.FieldDescriptorProto.LABEL_OPTIONAL
    for name, field in (("WatchRequest", "filter"), ("WatchResponse", "trace")):
        file.message_type.add(name=name).field.add(name=field, number=1, type=text, label=optional)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    request, response = (
        message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.{name}"))
        for name in ("WatchRequest", "WatchResponse")
    )
    return request, response
