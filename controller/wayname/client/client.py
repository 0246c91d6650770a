"""The client: each operation of the API, and what comes without end."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import Literal, TypedDict, cast

from wayname.client.answers import Event, TraceRecord
from wayname.client.operations import Operations

Direction = Literal["in", "out", "both"]


class EdgeAnswer(TypedDict):
    """One of several edges that a controller stands for."""

    edge: str
    runs: bool
    leads: bool
    connected: bool
    sessions: int
    providers: int
    providers_used: int
    restarts: int
    why: str


class Client(Operations):
    """A controller's API, for programs.

    with Client() as edge:
        for session in edge.sessions():
            print(session["local"], session["peer"], session["state"])
    """

    def follow_events(self, since: int = 0) -> Iterator[Event]:
        """Yield events behind a number, and new ones as they come."""
        with self.stream("/v1/events", {"since": since, "follow": "true"}, endless=True) as response:
            for line in response.iter_lines():
                yield cast(Event, json.loads(line))

    def ioam_follow_records(self, since: int = 0) -> Iterator[TraceRecord]:
        """Yield traces that ended here behind a number, and new ones as they come."""
        with self.stream("/v1/ioam/records", {"since": since, "follow": "true"}, endless=True) as response:
            for line in response.iter_lines():
                yield cast(TraceRecord, json.loads(line))

    @contextlib.contextmanager
    def capture(
        self,
        port: int | str,
        *,
        direction: Direction = "both",
        count: int | None = None,
        seconds: float | None = None,
    ) -> Iterator[Iterator[bytes]]:
        """Give the octets of a pcap file with a port's packets, as they come."""
        wish = {"port": port, "direction": direction, "count": count, "seconds": seconds}
        with self.stream("/v1/capture", method="POST", body=wish, endless=True) as response:
            yield response.iter_bytes()

    def edges(self) -> list[EdgeAnswer]:
        """The edges that a controller stands for which has several; `edge` of a client names one of them."""
        return cast("list[EdgeAnswer]", self.get("/v1/edges"))

    def metrics(self) -> str:
        """All numbers, as Prometheus reads them."""
        with self.stream("/metrics") as response:
            octets: bytes = response.read()
        return octets.decode()
