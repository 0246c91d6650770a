"""A switch on the virtual clock as P4Runtime shows it: it keeps entries, and listens to the highest election id.

It forwards nothing. What it holds, and whom it heard, outlive its restarts, as with `wayname-switch --state`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Protocol

import grpc
from finsy.proto import U128, p4r, rpc_status
from google.protobuf.any_pb2 import Any as Packed

from wayname_lab.fleet.network import GONE, Refused

SERVICE = "/p4.v1.P4Runtime/"
WRITE, STREAM = SERVICE + "Write", SERVICE + "StreamChannel"
OK, NOT_FOUND, ALREADY_EXISTS = 0, 5, 6


class Asking(Protocol):
    """Who asks: a process on the virtual clock, or whoever comes by gRPC."""

    name: str


class ServedStream(Protocol):
    """A stream as the switch sees it, on the virtual clock or of gRPC."""

    heard: Callable[[Any], None]
    closed: Callable[[], None]

    def send(self, message: Any) -> None:
        """Send a message to the client."""

    def end(self, why: Refused) -> None:
        """End it."""


@dataclass(frozen=True, slots=True)
class Written:
    """A request that was carried out."""

    process: str
    election_id: int


class KeptSwitch:
    """Answers P4Runtime; `writes` has who wrote."""

    def __init__(self) -> None:
        self.is_up = True
        self.entities: dict[Hashable, Any] = {}
        self.writes: list[Written] = []
        self.refused = 0
        self._config: Any = None
        self._streams: dict[ServedStream, int] = {}
        # The highest election id that was heard, and who has it now.
        self._highest = 0
        self._primary: ServedStream | None = None

    def kill(self) -> None:
        """Die, with all connections."""
        self.is_up = False
        streams, self._streams, self._primary = self._streams, {}, None
        for stream in streams:
            stream.end(GONE)

    def start(self) -> None:
        """Come back."""
        self.is_up = True

    def open(self, stream: ServedStream) -> None:
        """As of `Server`."""
        self._streams[stream] = 0
        stream.heard = lambda message: self._hear(stream, message)
        stream.closed = lambda: self._leave(stream)

    def _hear(self, stream: ServedStream, message: Any) -> None:
        if stream not in self._streams or message.WhichOneof("update") != "arbitration":
            return
        bid = U128.decode(message.arbitration.election_id)
        if any(other is not stream and taken == bid for other, taken in self._streams.items()):
            self._streams.pop(stream)
            stream.end(
                Refused(
                    grpc.StatusCode.INVALID_ARGUMENT,
                    f"election id {bid} is already used by another controller of this role",
                )
            )
            return
        self._streams[stream] = bid
        if bid >= self._highest:
            self._highest, self._primary = bid, stream
            told = list(self._streams)
        else:
            told = [stream]
        for each in told:
            self._tell(each)

    def _leave(self, stream: ServedStream) -> None:
        self._streams.pop(stream, None)
        if self._primary is stream:
            self._primary = None
            for each in self._streams:
                self._tell(each)

    def _tell(self, stream: ServedStream) -> None:
        code = OK if stream is self._primary else ALREADY_EXISTS if self._primary else NOT_FOUND
        update = p4r.MasterArbitrationUpdate(
            device_id=1, election_id=U128.encode(self._highest), status=rpc_status.Status(code=code)
        )
        stream.send(p4r.StreamMessageResponse(arbitration=update))

    def ask(self, process: Asking, method: str, request: Any, answer: Callable[[Any], None]) -> None:
        """As of `Server`."""
        try:
            answer(self._carry_out(process, method.removeprefix(SERVICE), request))
        except Refused as refused:
            answer(refused)

    def _carry_out(self, process: Asking, method: str, request: Any) -> Any:
        match method:
            case "Write":
                self._check(process, request)
                return self._write(request)
            case "Read":
                return [p4r.ReadResponse(entities=self._read(request))]
            case "SetForwardingPipelineConfig":
                self._check(process, request)
                self._config = request.config
                return p4r.SetForwardingPipelineConfigResponse()
            case "GetForwardingPipelineConfig":
                if self._config is None:
                    raise Refused(grpc.StatusCode.FAILED_PRECONDITION, "no forwarding pipeline config was set")
                return p4r.GetForwardingPipelineConfigResponse(config=self._config)
        raise Refused(grpc.StatusCode.UNIMPLEMENTED, method)

    def _check(self, process: Asking, request: Any) -> None:
        given = U128.decode(request.election_id)
        if self._primary is None or given != self._highest:
            self.refused += 1
            raise Refused(grpc.StatusCode.PERMISSION_DENIED, f"not primary: the request has {given}")
        self.writes.append(Written(process.name, given))

    def _write(self, request: Any) -> Any:
        codes = [self._update(each) for each in request.updates]
        if any(codes):
            details = [Packed() for _ in codes]
            for packed, code in zip(details, codes, strict=True):
                packed.Pack(p4r.Error(canonical_code=code))
            status = rpc_status.Status(code=grpc.StatusCode.UNKNOWN.value[0], message="", details=details)
            trailing = [("grpc-status-details-bin", status.SerializeToString())]
            raise Refused(grpc.StatusCode.UNKNOWN, "some updates failed", trailing)
        return p4r.WriteResponse()

    def _update(self, update: Any) -> int:
        key = key_of(update.entity)
        if update.type == p4r.Update.INSERT and key in self.entities:
            return ALREADY_EXISTS
        is_always_there = update.entity.HasField("meter_entry") or update.entity.table_entry.is_default_action
        if update.type != p4r.Update.INSERT and key not in self.entities and not is_always_there:
            return NOT_FOUND
        if update.type == p4r.Update.DELETE:
            self.entities.pop(key)
        else:
            self.entities[key] = update.entity
        return OK

    def _read(self, request: Any) -> list[Any]:
        wanted = {(_kind(each), each.table_entry.is_default_action) for each in request.entities}
        digests = {each.digest_entry.digest_id for each in request.entities if each.HasField("digest_entry")}
        return [
            each
            for each in self.entities.values()
            if (_kind(each), each.table_entry.is_default_action) in wanted
            and (not each.HasField("digest_entry") or each.digest_entry.digest_id in digests)
        ]


def _kind(entity: Any) -> str:
    kind = str(entity.WhichOneof("entity"))
    return str(entity.packet_replication_engine_entry.WhichOneof("type")) if kind.startswith("packet_rep") else kind


def key_of(entity: Any) -> Hashable:
    """Return what names an entity: no two that a switch has are named the same."""
    kind = _kind(entity)
    match kind:
        case "table_entry":
            entry = entity.table_entry
            match = sorted(each.SerializeToString() for each in entry.match)
            return kind, entry.table_id, tuple(match), entry.priority, entry.is_default_action
        case "multicast_group_entry":
            return kind, entity.packet_replication_engine_entry.multicast_group_entry.multicast_group_id
        case "clone_session_entry":
            return kind, entity.packet_replication_engine_entry.clone_session_entry.session_id
        case "action_profile_member":
            member = entity.action_profile_member
            return kind, member.action_profile_id, member.member_id
        case "action_profile_group":
            group = entity.action_profile_group
            return kind, group.action_profile_id, group.group_id
        case "meter_entry":
            return kind, entity.meter_entry.meter_id, entity.meter_entry.index.index
        case "digest_entry":
            return kind, entity.digest_entry.digest_id
    raise Refused(grpc.StatusCode.UNIMPLEMENTED, f"no {kind} here")
