"""The embedded P4 switch in process: the engine of `wayname-switch` without gRPC, threads or root.

Messages of P4Runtime go in and come out as their serialized bytes, so any version of the Python protobuf classes fits.
Time is in nanoseconds and is the caller's.
"""

from typing import NamedTuple, final

class CompileError(ValueError):
    """The program does not compile; the text has file, line, column and the source."""

class StatusError(Exception):
    """A request was refused: `args` is (canonical code, text)."""

class Output(NamedTuple):
    """A packet that left: its port, its bytes, and when its last bit was on the wire."""

    port: int
    packet: bytes
    at: int

def device_config(path: str, include: list[str] = ..., define: list[str] = ...) -> str:
    """Return the program with all it includes as one text."""

@final
class Switch:
    """A switch that runs one program; a port that the architecture has not, as v1model's 511, is a ValueError."""

    def __init__(
        self,
        program: str,
        *,
        cpu_port: int | None = ...,
        backend: str = ...,
        seed: int | None = ...,
        p4info: bytes | None = ...,
    ) -> None:
        """Load a program's text; `backend` is "jit" or "interpreter", random numbers without a seed the system's."""

    def p4info(self) -> bytes:
        """Return the program's P4Info."""

    def write(self, request: bytes, now: int = ...) -> list[tuple[int, str]]:
        """Carry out a WriteRequest; return code and text of each update."""

    def read(self, request: bytes, now: int = ...) -> bytes:
        """Carry out a ReadRequest; return a ReadResponse."""

    def inject(self, port: int, packet: bytes, now: int = ...) -> list[Output]:
        """Let a packet enter; return everything that leaves at once."""

    def packet_out(self, message: bytes, now: int = ...) -> list[Output]:
        """Let a PacketOut enter by the CPU port."""

    def advance(self, now: int) -> list[Output]:
        """Let the packets go whose time in a queue is over."""

    def next_departure(self) -> int | None:
        """Return when the next queued packet leaves."""

    def packets_in(self) -> list[bytes]:
        """Take the PacketIn messages since the last call."""

    def digests(self, now: int) -> list[bytes]:
        """Take the DigestList messages that are due."""

    def acknowledge(self, message: bytes) -> None:
        """Take a DigestListAck."""

    def idle_timeouts(self, now: int) -> list[bytes]:
        """Return the TableEntry messages of entries that went idle."""

    def messages(self) -> list[str]:
        """Take what the program logged, and assertions that failed."""

    def set_link(self, port: int, *, rate: int | None = ..., queue: int = ...) -> None:
        """Give a port's link a rate in bits per second and a queue in packets."""

    def set_port_up(self, port: int, up: bool) -> None:
        """Say whether a port's link is up."""

    def watch(self, filter: str | None = ...) -> None:
        """Trace the packets that a filter chooses from now on, all by default; None ends it."""

    def traces(self, text: bool = ...) -> list[str]:
        """Take the traces since the last call, the last 64 of them, as JSON or as text for people."""
