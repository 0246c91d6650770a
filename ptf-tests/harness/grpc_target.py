"""A switch behind a gRPC address."""

import queue
import threading
import time
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import grpc
from finsy.p4schema import P4Schema
from finsy.proto import U128, p4r, p4r_grpc, rpc_status

from harness.target import RefusedError, Status

# How long a message may take that must come. Nothing waits this long unless a test fails.
PATIENCE = 2.0
MILLISECOND = 1_000_000


@dataclass(frozen=True, slots=True)
class Program:
    """What SetForwardingPipelineConfig takes."""

    schema: P4Schema
    device_config: bytes

    @classmethod
    def load(cls, p4info: Path, device_config: Path) -> "Program":
        """A program from its P4Info (text form) and its device config."""
        config = device_config.read_bytes()
        return cls(P4Schema(p4info, config), config)


class UnreachableError(Exception):
    """Nobody, or no P4Runtime, at the address; one line for people."""


def status_of(error: grpc.RpcError) -> Status:
    """Code and text of a refused call."""
    code: tuple[int, str] = error.code().value
    return Status(code[0], error.details() or "")


class Controller:
    """One controller's session: a stream with its own election id, and requests under that id."""

    def __init__(self, address: str, device_id: int, election_id: int, role: str = "") -> None:
        self.device_id = device_id
        self.election_id = election_id
        self.role = role
        # A device config may be longer than the four megabytes that gRPC takes by itself: BMv2's is.
        self._channel = grpc.insecure_channel(address, options=[("grpc.max_receive_message_length", -1)])
        self.stub = p4r_grpc.P4RuntimeStub(self._channel)
        self._requests: queue.SimpleQueue[p4r.StreamMessageRequest | None] = queue.SimpleQueue()
        self._arrived = threading.Condition()
        self._messages: defaultdict[str, deque[p4r.StreamMessageResponse]] = defaultdict(deque)
        self.ended: Status | None = None
        self._stream = self.stub.StreamChannel(iter(self._requests.get, None))
        threading.Thread(target=self._listen, args=(self._stream,), daemon=True).start()
        self.bid(election_id)

    def _listen(self, stream: Iterator[p4r.StreamMessageResponse]) -> None:
        try:
            for message in stream:
                with self._arrived:
                    self._messages[str(message.WhichOneof("update"))].append(message)
                    self._arrived.notify_all()
            ended = Status(0, "the switch ended the stream")
        except grpc.RpcError as error:
            ended = status_of(error)
        with self._arrived:
            self.ended = ended
            self._arrived.notify_all()

    def bid(self, election_id: int) -> None:
        """Ask to be primary with this id."""
        self.election_id = election_id
        request = p4r.StreamMessageRequest()
        request.arbitration.device_id = self.device_id
        request.arbitration.election_id.CopyFrom(U128.encode(election_id))
        if self.role:
            request.arbitration.role.name = self.role
        self._requests.put(request)

    def send(self, message: p4r.StreamMessageRequest) -> None:
        """Send on the stream."""
        self._requests.put(message)

    def next(self, kind: str) -> p4r.StreamMessageResponse | None:
        """The next message of a kind; None if it does not come."""
        messages = self._messages[kind]
        with self._arrived:
            self._arrived.wait_for(lambda: messages or self.ended, PATIENCE)
            return messages.popleft() if messages else None

    def waiting(self, kind: str) -> int:
        """How many messages of a kind have come and nobody took."""
        with self._arrived:
            return len(self._messages[kind])

    def end(self) -> Status | None:
        """How the switch ended the stream; None if it does not."""
        with self._arrived:
            self._arrived.wait_for(lambda: self.ended, PATIENCE)
            return self.ended

    def write(
        self,
        updates: Sequence[p4r.Update],
        atomicity: p4r.WriteRequest.Atomicity.ValueType = p4r.WriteRequest.CONTINUE_ON_ERROR,
    ) -> list[Status]:
        """Carry out updates; one status each."""
        request = p4r.WriteRequest(
            device_id=self.device_id,
            election_id=U128.encode(self.election_id),
            role=self.role,
            updates=updates,
            atomicity=atomicity,
        )
        try:
            self.stub.Write(request, timeout=PATIENCE)
        except grpc.RpcError as error:
            details = details_of(error)
            if len(details) != len(updates):
                raise RefusedError(status_of(error)) from None
            return details
        return [Status(0, "")] * len(updates)

    def read(self, entities: Iterable[p4r.Entity]) -> list[p4r.Entity]:
        """Read what matches."""
        request = p4r.ReadRequest(device_id=self.device_id, role=self.role, entities=entities)
        try:
            return [entity for response in self.stub.Read(request, timeout=PATIENCE) for entity in response.entities]
        except grpc.RpcError as error:
            raise RefusedError(status_of(error)) from None

    def set_program(self, program: Program, action: p4r.SetForwardingPipelineConfigRequest.Action.ValueType) -> Status:
        """SetForwardingPipelineConfig with one of its actions."""
        request = p4r.SetForwardingPipelineConfigRequest(
            device_id=self.device_id,
            election_id=U128.encode(self.election_id),
            role=self.role,
            action=action,
        )
        if action != p4r.SetForwardingPipelineConfigRequest.COMMIT:
            request.config.p4info.CopyFrom(program.schema.p4info)
            request.config.p4_device_config = program.device_config
            request.config.cookie.cookie = program.schema.p4cookie
        try:
            self.stub.SetForwardingPipelineConfig(request, timeout=10 * PATIENCE)
        except grpc.RpcError as error:
            return status_of(error)
        return Status(0, "")

    def close(self) -> None:
        """End the session."""
        self._requests.put(None)
        self._stream.cancel()
        self._channel.close()


def details_of(error: grpc.RpcError) -> list[Status]:
    """The status of each update of a refused Write."""
    for item in error.trailing_metadata() or ():
        if item.key == "grpc-status-details-bin":
            found = []
            for detail in rpc_status.Status.FromString(item.value).details:
                each = p4r.Error()
                detail.Unpack(each)
                found.append(Status(each.canonical_code, each.message))
            return found
    return []


class GrpcTarget:
    """A `Target` behind an address, with our program in it."""

    at_once = False

    def __init__(self, address: str, device_id: int, program: Program) -> None:
        self.address = address
        self.device_id = device_id
        self.program = program
        self.schema = program.schema
        # Higher with each run, also than the tests of the last one bid: a switch may remember the highest that it saw.
        self.controller = Controller(address, device_id, time.time_ns() // MILLISECOND)
        answer = self.controller.next("arbitration")
        if answer is None or answer.arbitration.status.code != 0:
            if answer is not None:
                why = f"it does not make us primary: {answer.arbitration.status.message}"
            elif self.controller.ended is not None:
                why = self.controller.ended.text
            else:
                why = "it does not answer"
            raise UnreachableError(f"{address}: no P4Runtime of device {device_id} for us: {why}")
        status = self.controller.set_program(program, p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT)
        if status.code:
            raise UnreachableError(f"{address} does not take the program: {status.name}: {status.text}")

    def write(
        self,
        updates: Sequence[p4r.Update],
        atomicity: p4r.WriteRequest.Atomicity.ValueType = p4r.WriteRequest.CONTINUE_ON_ERROR,
    ) -> list[Status]:
        """Carry out updates; one status each."""
        return self.controller.write(updates, atomicity)

    def read(self, entities: Iterable[p4r.Entity]) -> list[p4r.Entity]:
        """Read what matches."""
        return self.controller.read(entities)

    def send(self, message: p4r.StreamMessageRequest) -> None:
        """Send a packet-out or the acknowledgement of a digest."""
        self.controller.send(message)

    def next(self, kind: str) -> p4r.StreamMessageResponse | None:
        """The next message of a kind; None if it does not come."""
        return self.controller.next(kind)

    def pass_time(self, seconds: float) -> None:
        """Time passes by itself."""
