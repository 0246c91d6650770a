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
from google.protobuf.text_format import ParseError

from harness.target import PATIENCE, RefusedError, Status, told
from harness.traces import TraceStream
from small_site import entries

MILLISECOND = 1_000_000
# A program takes longer than an answer, so many times.
FOR_A_PROGRAM = 30


@dataclass(frozen=True, slots=True)
class Program:
    """What SetForwardingPipelineConfig takes."""

    schema: P4Schema
    device_config: bytes

    @classmethod
    def load(cls, p4info: Path, device_config: Path) -> "Program":
        """A program from its P4Info (text form) and its device config."""
        config = device_config.read_bytes()
        try:
            schema = P4Schema(p4info, config)
        except (ParseError, ValueError) as error:
            raise UnusableError(f"{p4info}: no P4Info in text form: {str(error).splitlines()[0]}") from None
        for table in dict.fromkeys(entry.table for entry in entries()):
            if schema.tables.get(table) is None:
                raise UnusableError(f"{p4info}: there is no table {table}, which every test needs")
        return cls(schema, config)


class UnusableError(Exception):
    """No program of ours, or no P4Runtime at the address; one line for people."""


def status_of(error: grpc.RpcError, patience: float | None = None) -> Status:
    """Code and text of a refused call, or how long it was waited for."""
    code: tuple[int, str] = error.code().value
    if error.code() == grpc.StatusCode.DEADLINE_EXCEEDED and patience is not None:
        return Status(code[0], f"no answer within {patience:g} s")
    return Status(code[0], error.details() or "")


class Controller:
    """One controller's session: a stream with its own election id, and requests under that id."""

    def __init__(
        self, address: str, device_id: int, election_id: int, role: str = "", patience: float = PATIENCE
    ) -> None:
        self.patience = patience
        self.device_id = device_id
        self.election_id = election_id
        self.role = role
        # A device config may be longer than the four megabytes that gRPC takes by itself: BMv2's is. And what it makes
        # of a Unix socket's path is no name of a host.
        options = [("grpc.max_receive_message_length", -1), ("grpc.default_authority", "localhost")]
        self.channel = grpc.insecure_channel(address, options=options)
        self.stub = p4r_grpc.P4RuntimeStub(self.channel)
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
            self._arrived.wait_for(lambda: messages or self.ended, self.patience)
            return messages.popleft() if messages else None

    def waiting(self, kind: str) -> int:
        """How many messages of a kind have come and nobody took."""
        with self._arrived:
            return len(self._messages[kind])

    def end(self) -> Status | None:
        """How the switch ended the stream; None if it does not."""
        with self._arrived:
            self._arrived.wait_for(lambda: self.ended, self.patience)
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
            self.stub.Write(request, timeout=self.patience)
        except grpc.RpcError as error:
            details = details_of(error)
            if len(details) != len(updates):
                request_told = told("Write", (update.entity for update in updates))
                raise RefusedError(request_told, status_of(error, self.patience)) from None
            return details
        return [Status(0, "")] * len(updates)

    def read(self, entities: Iterable[p4r.Entity]) -> list[p4r.Entity]:
        """Read what matches."""
        request = p4r.ReadRequest(device_id=self.device_id, role=self.role, entities=entities)
        try:
            answer = self.stub.Read(request, timeout=self.patience)
            return [entity for response in answer for entity in response.entities]
        except grpc.RpcError as error:
            raise RefusedError(told("Read", request.entities), status_of(error, self.patience)) from None

    def set_program(self, program: Program, action: p4r.SetForwardingPipelineConfigRequest.Action.ValueType) -> Status:
        """SetForwardingPipelineConfig with one of its actions."""
        patience = FOR_A_PROGRAM * self.patience
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
            self.stub.SetForwardingPipelineConfig(request, timeout=patience)
        except grpc.RpcError as error:
            return status_of(error, patience)
        return Status(0, "")

    def close(self) -> None:
        """End the session."""
        self._requests.put(None)
        self._stream.cancel()
        self.channel.close()


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

    def __init__(self, address: str, device_id: int, program: Program, patience: float = PATIENCE) -> None:
        self.patience = patience
        self.address = address
        self.device_id = device_id
        self.program = program
        self.schema = program.schema
        self._traces: TraceStream | None = None
        # Higher with each run, also than the tests of the last one bid: a switch may remember the highest that it saw.
        self.controller = Controller(address, device_id, time.time_ns() // MILLISECOND, patience=patience)
        answer = self.controller.next("arbitration")
        if answer is None or answer.arbitration.status.code != 0:
            if answer is not None:
                why = f"it does not make us primary: {answer.arbitration.status.message}"
            elif self.controller.ended is not None:
                why = f"{self.controller.ended.name}: {self.controller.ended.text}"
            else:
                why = f"no answer within {patience:g} s"
            raise UnusableError(f"{address}: no P4Runtime of device {device_id} for us: {why}")
        status = self.controller.set_program(program, p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT)
        if status.code:
            raise UnusableError(f"{address} does not take the program: {status.name}: {status.text}")

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

    def watch(self, packets: str) -> None:
        """Trace these packets from now on, if the target can."""
        self._traces = TraceStream(self.controller.channel, packets, self.patience)

    def traces(self) -> list[str]:
        """End that; the last traces, as text."""
        return self._traces.end() if self._traces else []
