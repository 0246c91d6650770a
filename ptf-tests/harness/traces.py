"""Traces of packets from a switch behind a gRPC address that has them: wayname-switch.

Its service stands in switch/crates/proto/wayname/trace/v1/trace.proto. What a client needs of the messages is made
here, so that testing another target needs no generated code.
"""

import threading
from collections import deque
from collections.abc import Iterator
from typing import Any

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

PACKAGE = "wayname.trace.v1"
TEXT = 1
# Traces that are kept, the last ones, and packets per second: as many as the switch lets us have.
MOST_KEPT = 16
RATE = 100
# After this many seconds without another trace there is none.
QUIET = 0.3


def messages() -> tuple[Any, Any]:
    """The classes of WatchRequest and WatchResponse."""
    file = descriptor_pb2.FileDescriptorProto(name="wayname/trace/v1/trace.proto", package=PACKAGE, syntax="proto3")
    kinds = descriptor_pb2.FieldDescriptorProto
    fields = {
        "WatchRequest": [
            ("filter", 1, kinds.TYPE_STRING),
            ("packets_per_second", 3, kinds.TYPE_UINT32),
            ("form", 4, kinds.TYPE_UINT32),  # An enum, which is the same on the wire.
        ],
        "WatchResponse": [("trace", 1, kinds.TYPE_STRING)],
    }
    for name, of_message in fields.items():
        message = file.message_type.add(name=name)
        for field, number, kind in of_message:
            message.field.add(name=field, number=number, type=kind, label=kinds.LABEL_OPTIONAL)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    request, response = (
        message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.{name}")) for name in fields
    )
    return request, response


class TraceStream:
    """Traces as they come, the last ones; none from a target that has no traces."""

    def __init__(self, channel: grpc.Channel, packets: str, patience: float) -> None:
        request, response = messages()
        watch = channel.unary_stream(
            f"/{PACKAGE}.PacketTraces/Watch",
            request_serializer=request.SerializeToString,
            response_deserializer=response.FromString,
        )
        self._patience = patience
        self._kept: deque[str] = deque(maxlen=MOST_KEPT)
        self._came = threading.Condition()
        self._began = threading.Event()
        self._call = watch(request(filter=packets, packets_per_second=RATE, form=TEXT))
        threading.Thread(target=self._listen, args=(self._call,), daemon=True).start()
        # The first message says that packets are traced from now on.
        self._began.wait(patience)

    def _listen(self, call: Iterator[Any]) -> None:
        try:
            for message in call:
                self._began.set()
                if message.trace:
                    with self._came:
                        self._kept.append(message.trace)
                        self._came.notify_all()
        except grpc.RpcError:
            # Cancelled by `end`, or the target has no traces.
            self._began.set()

    def end(self) -> list[str]:
        """The last traces, once no more come."""
        with self._came:
            patience = QUIET if self._kept else self._patience
            while self._came.wait(patience):
                patience = QUIET
        self._call.cancel()
        return list(self._kept)
