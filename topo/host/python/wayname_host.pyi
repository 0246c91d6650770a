"""A user-space IPv6 host in process: `wayname-host` without a wire, threads or root.

Frames go in and come out as bytes. Time is in nanoseconds and is the caller's. Commands take effect with the next
`poll`; what they find out comes as events, each a JSON object. docs/host.md lists both.
"""

from ipaddress import IPv6Address
from typing import Literal, final

@final
class Host:
    """A host on a link."""

    def __init__(
        self, *, mac: str, addresses: list[str] = ..., gateway: str | None = ..., mtu: int = ..., seed: int = ...
    ) -> None:
        """Make a host; without addresses it autoconfigures itself from router advertisements."""

    def receive(self, frame: bytes, now: int) -> None:
        """Take a frame from the link."""

    def poll(self, now: int) -> list[bytes]:
        """Do everything that can be done now; return the frames that leave."""

    def next_wake(self, now: int) -> int | None:
        """Return when `poll` has something to do even if no frame comes."""

    def events(self) -> list[str]:
        """Take what happened since the last call, as JSON objects."""

    def udp_is_connected(self, local_port: int, peer: IPv6Address, peer_port: int) -> bool:
        """Return whether a UDP socket here is connected to a peer's."""

    def set_link(self, up: bool, now: int) -> None:
        """Say that the link came or went."""

    def command(self, line: str) -> int | None:
        """Take a command as a JSON object; return the flow that it began."""

    def ping(
        self,
        to: str,
        *,
        count: int = ...,
        interval: float = ...,
        size: int = ...,
        timeout: float = ...,
        source: str | None = ...,
    ) -> int:
        """Send echo requests; return the flow."""

    def tcp_serve(
        self,
        *,
        port: int = ...,
        service: Literal["sink", "echo"] = ...,
        congestion: Literal["none", "reno", "cubic"] = ...,
        buffer: int = ...,
        ack_delay: float = ...,
        interval: float = ...,
        timeout: float = ...,
    ) -> int:
        """Listen at a TCP port; each connection becomes a flow of its own."""

    def tcp_send(
        self,
        to: str,
        *,
        port: int = ...,
        bytes: int | None = ...,
        seconds: float | None = ...,
        pace: int | None = ...,
        congestion: Literal["none", "reno", "cubic"] = ...,
        buffer: int = ...,
        interval: float = ...,
        timeout: float = ...,
        source: str | None = ...,
    ) -> int:
        """Send bytes to a sink; return the flow."""

    def tcp_request(
        self,
        to: str,
        *,
        port: int = ...,
        count: int = ...,
        interval: float = ...,
        size: int = ...,
        report: float = ...,
        timeout: float = ...,
        source: str | None = ...,
    ) -> int:
        """Send requests to an echo server and find the longest gap between answers; return the flow."""

    def udp_echo(self, *, port: int = ...) -> int:
        """Give datagrams back to whoever sends them; return the flow."""

    def udp_receive(self, *, port: int = ..., interval: float = ..., silence: float = ...) -> int:
        """Receive UDP streams; each becomes a flow of its own."""

    def udp_send(
        self,
        to: str,
        *,
        port: int = ...,
        rate: float = ...,
        size: int = ...,
        count: int = ...,
        connected: bool = ...,
        source: str | None = ...,
    ) -> int:
        """Send a UDP stream at a constant rate; return the flow."""

    def stop(self, flow: int) -> None:
        """End a flow."""

    def status(self) -> None:
        """Let the host tell its state as an event."""
