"""The one interface through which tests speak P4Runtime, whatever the switch is."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from finsy.p4schema import P4Schema
from finsy.proto import p4r, rpc_code

DEVICE_ID = 1
# How long what must come may take, in seconds. Nothing waits that long unless a test fails.
PATIENCE = 2.0


class Status(NamedTuple):
    """What became of an update or of a request."""

    code: int
    text: str

    @property
    def name(self) -> str:
        """The canonical code as people write it, `NOT_FOUND`."""
        return rpc_code.Code.Name(self.code)  # type: ignore[arg-type]


class RefusedError(Exception):
    """The switch refused a request as a whole."""

    def __init__(self, request: str, status: Status) -> None:
        super().__init__(f"{request}: {status.name}: {status.text}")
        self.status = status


def told(request: str, entities: Iterable[p4r.Entity]) -> str:
    """A request in words for people: `Write of 3 table_entry, 1 digest_entry`."""
    kinds = Counter(str(entity.WhichOneof("entity")) for entity in entities)
    return f"{request} of {', '.join(f'{number} {kind}' for kind, number in kinds.items())}"


class Target(Protocol):
    """A switch with the pipeline, and its P4Runtime."""

    schema: P4Schema
    # Everything that a packet causes is there when its sending returns, and time is ours.
    at_once: bool
    # How long what must come may take, in seconds.
    patience: float

    def write(
        self,
        updates: Sequence[p4r.Update],
        atomicity: p4r.WriteRequest.Atomicity.ValueType = p4r.WriteRequest.CONTINUE_ON_ERROR,
    ) -> list[Status]:
        """Carry out updates; one status each."""

    def read(self, entities: Iterable[p4r.Entity]) -> list[p4r.Entity]:
        """Read what matches; RefusedError if the switch does not."""

    def send(self, message: p4r.StreamMessageRequest) -> None:
        """Send a packet-out or the acknowledgement of a digest."""

    def next(self, kind: str) -> p4r.StreamMessageResponse | None:
        """The next message of a kind ("packet", "digest", "idle_timeout_notification"); None if it does not come."""

    def pass_time(self, seconds: float) -> None:
        """Let time pass where it is ours; elsewhere it passes by itself."""

    def watch(self, packets: str) -> None:
        """Trace these packets from now on, if the target can; docs/trace.md has the words."""

    def traces(self) -> list[str]:
        """End that; the last traces, as text."""
