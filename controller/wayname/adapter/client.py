"""finsy's client, also for Unix sockets.

gRPC's own word for the host behind `unix:/PATH` is the path, percent-encoded, which is none that HTTP/2 servers take
(RFC 9113, 8.3.1), ours among them. finsy has no option for another word, so its channel is opened here.
"""

from __future__ import annotations

from collections.abc import Callable

import grpc.aio
from finsy import GRPCCredentialsTLS, P4Client, P4Schema
from finsy.pbutil import PBMessage
from finsy.proto import p4r_grpc

# As finsy has them.
OPTIONS = [
    ("grpc.max_metadata_size", 64 * 1024),
    ("grpc.max_reconnect_backoff_ms", 15_000),
    ("grpc.default_authority", "localhost"),
]


class UnixClient(P4Client):
    """A client of a switch on a Unix socket."""

    async def open(
        self, *, schema: P4Schema | None = None, complete_request: Callable[[PBMessage], None] | None = None
    ) -> None:
        """Open the channel."""
        self._channel = grpc.aio.insecure_channel(self._address, options=OPTIONS)
        self._stub = p4r_grpc.P4RuntimeStub(self._channel)
        self._schema = schema
        self._complete_request = complete_request


def client(address: str, credentials: GRPCCredentialsTLS | None) -> P4Client:
    """A client of the switch at an address; its user alone reaches a Unix socket, and TLS would prove nothing there."""
    kind = UnixClient if address.startswith("unix:") else P4Client
    return kind(address, credentials, wait_for_ready=False)
