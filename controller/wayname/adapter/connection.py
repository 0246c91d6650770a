"""One P4Runtime session with a switch, through finsy's client.

finsy's own `Switch` is not used: it replaces whatever program a switch runs, and waits ten seconds after a failure.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from finsy import GRPCStatusCode, P4ClientError, P4Schema
from finsy.p4entity import decode_stream, encode_entities
from finsy.p4schema import P4ConfigAction, P4ConfigResponseType
from finsy.pbutil import PBMessage
from finsy.proto import U128, p4r

from wayname.adapter.absent_ports import written_without
from wayname.adapter.client import client
from wayname.adapter.digests import told
from wayname.adapter.messages import Messages
from wayname.config.model import SwitchConfig
from wayname.edge.boundary import (
    IdleEntry,
    Input,
    PacketOut,
    Update,
    Write,
    WriteFailed,
)
from wayname.p4_constants import CPU_PORT
from wayname.pipeline.entries import Readable
from wayname.pipeline.read_back import decode_entities
from wayname.tls_files import TlsError, credentials

# Whoever has the highest number is heard; a second controller of ours has the same, and is refused. In a fleet each
# leader has a number of its own (wayname.fleet.leadership).
ELECTION_ID = 100

# The details of failed updates come in one header of 64 KiB.
_UPDATES_AT_ONCE = 200
# So many are read before others have a turn.
_ENTITIES_A_TURN = 256


class SwitchError(Exception):
    """Why a switch cannot be used, in one line; a lasting one does not go away by trying again."""

    def __init__(self, text: str, *, lasting: bool = False, away: bool = False) -> None:
        super().__init__(text)
        self.lasting = lasting
        # Nobody is at its address.
        self.away = away


class NotLeadingError(Exception):
    """Nothing was written: this controller may not now."""


@dataclass(frozen=True, slots=True)
class Arbitrated:
    """The switch has chosen whom it listens to."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The switch refused what was sent on the stream, of this kind; the text says why, and what may mend it."""

    kind: str
    text: str


class Connection:
    """A session; `open` it, then `receive` until it ends."""

    def __init__(
        self,
        config: SwitchConfig,
        schema: P4Schema,
        election_id: int = ELECTION_ID,
        may_write: Callable[[], bool] = lambda: True,
    ) -> None:
        self.is_primary = False
        # That the switch has heard of anybody.
        self.highest_election_id = 0
        self._election_id = election_id
        self._may_write = may_write
        self._config = config
        self._schema = schema
        self._messages = Messages(schema)
        try:
            secured = credentials(config.tls) if config.tls else None
        except TlsError as error:
            raise SwitchError(str(error), lasting=True) from None
        self._client = client(config.address, secured)
        # A stream takes one message at a time; two at once break it.
        self._sending = asyncio.Lock()
        self._closed = False
        # Who waits for the switch, and whom `close` told that it waits in vain.
        self._calls: set[asyncio.Task[object]] = set()
        self._told: set[asyncio.Task[object]] = set()

    async def open(self) -> None:
        """Connect and ask to be the one that the switch listens to."""
        await self._client.open(schema=self._schema, complete_request=self._sign)
        ask = p4r.MasterArbitrationUpdate(device_id=self._config.device_id, election_id=U128.encode(self._election_id))
        await self._send(p4r.StreamMessageRequest(arbitration=ask))
        while not self._take_arbitration(await self._message()):
            continue

    async def close(self) -> None:
        """End the session."""
        self._closed = True
        # finsy begins another stream where one has ended, and one whose channel is closed before it has begun keeps who
        # writes to it waiting for ever.
        for task in self._calls:
            self._told.add(task)
            task.cancel()
        await self._client.close()

    @contextlib.contextmanager
    def _in_session(self) -> Iterator[None]:
        """What is asked for when the session has ended, or ends meanwhile, is refused as by a switch that is gone."""
        if self._closed:
            raise self._ended()
        task = asyncio.current_task()
        assert task is not None, "connections are for tasks"
        self._calls.add(task)
        try:
            yield
        except asyncio.CancelledError:
            if task in self._told:
                task.uncancel()
            # So gRPC ends a call whose channel is closed, too: nobody cancelled the task.
            if self._closed and not task.cancelling():
                raise self._ended() from None
            raise
        finally:
            self._calls.discard(task)
            self._told.discard(task)

    def _ended(self) -> SwitchError:
        return SwitchError(f"the session with the switch at {self._config.address} has ended; it is asked again")

    async def secure_pipeline(self, replace: bool) -> bool:
        """See that our program runs there; return whether it was set just now."""
        try:
            running = await self._running_pipeline()
            if running is not None and not replace:
                self._check_pipeline(running)
                return False
            if running is not None and self._is_ours(running):
                return False
            self._check_may_write()
            request = p4r.SetForwardingPipelineConfigRequest(
                device_id=self._config.device_id,
                action=P4ConfigAction.VERIFY_AND_COMMIT.vt(),
                config=self._schema.get_pipeline_config(),
            )
            await self._client.request(request)
        except P4ClientError as error:
            if error.code == GRPCStatusCode.INVALID_ARGUMENT:
                text = f"the switch at {self._config.address} refuses the program: {error.message}"
                raise SwitchError(f"{text}; check switch.target, program and p4info", lasting=True) from None
            raise self._explain(error) from None
        return True

    async def _running_pipeline(self) -> p4r.ForwardingPipelineConfig | None:
        request = p4r.GetForwardingPipelineConfigRequest(
            device_id=self._config.device_id, response_type=P4ConfigResponseType.P4INFO_AND_COOKIE.vt()
        )
        try:
            config = (await self._client.request(request)).config
        except P4ClientError as error:
            # Both our switch and BMv2 answer so when no program was set.
            if error.code == GRPCStatusCode.FAILED_PRECONDITION:
                return None
            raise
        return config if config.HasField("p4info") else None

    def _is_ours(self, running: p4r.ForwardingPipelineConfig) -> bool:
        # A program that the switch was started with has no cookie; its P4Info says enough.
        cookie = running.cookie.cookie
        return self._schema.has_p4info(running.p4info) and cookie in (0, self._schema.p4cookie)

    def _check_pipeline(self, running: p4r.ForwardingPipelineConfig) -> None:
        if self._is_ours(running):
            return
        info = running.p4info.pkg_info
        name = f"{info.name or 'without a name'} {info.version}".rstrip()
        which = "another build of" if self._schema.has_p4info(running.p4info) else "the program"
        raise SwitchError(
            f"the switch at {self._config.address} runs {which} {name}; `wayname up --replace-pipeline` replaces it",
            lasting=True,
        )

    async def read(self, entities: Sequence[Readable]) -> list[Readable]:
        """Read all that wildcards stand for."""
        found = await self._read(entities)
        if found is None:
            # BMv2 refuses a whole request for a digest that nobody configured yet: so each by itself.
            each_found = [await self._read([entity]) for entity in entities]
            found = [entity for some in each_found if some for entity in some]
        return found

    async def _read(self, entities: Sequence[Readable]) -> list[Readable] | None:
        """Read entities with one request; None if the switch says that one of them is not there."""
        request = p4r.ReadRequest(device_id=self._config.device_id, entities=encode_entities(entities, self._schema))
        found: list[Readable] = []
        try:
            with self._in_session():
                async for reply in self._client.request_iter(request):
                    for at in range(0, len(reply.entities), _ENTITIES_A_TURN):
                        some = reply.entities[at : at + _ENTITIES_A_TURN]
                        found.extend(decode_entities(some, self._schema))
                        await asyncio.sleep(0)
        except P4ClientError as error:
            if error.code == GRPCStatusCode.NOT_FOUND:
                return None
            raise self._explain(error) from None
        return found

    async def write(self, write: Write) -> list[WriteFailed]:
        """Carry out updates; return those that the switch refused. Raise `NotLeadingError` where none may be."""
        return [await written_without(failed, self._write) for failed in await self._write(*write.updates)]

    async def _write(self, *wanted: Update) -> list[WriteFailed]:
        failed: list[WriteFailed] = []
        fit: list[tuple[Update, p4r.Update]] = []
        for update in wanted:
            try:
                fit.append((update, self._messages.update(update)))
            except Exception as error:
                # One entry that no switch could have does not keep the others from it.
                text = f"it cannot be encoded: {type(error).__name__}"
                failed.append(WriteFailed(update, GRPCStatusCode.INVALID_ARGUMENT, text))
        for start in range(0, len(fit), _UPDATES_AT_ONCE):
            updates = [update for update, _ in fit[start : start + _UPDATES_AT_ONCE]]
            encoded = [one for _, one in fit[start : start + _UPDATES_AT_ONCE]]
            request = p4r.WriteRequest(device_id=self._config.device_id, updates=encoded)
            self._check_may_write()
            try:
                with self._in_session():
                    await self._client.request(request)
            except P4ClientError as error:
                if not error.details:
                    raise self._explain(error) from None
                failed += [
                    WriteFailed(updates[index], detail.canonical_code, detail.message)
                    for index, detail in error.details.items()
                ]
        return failed

    def _check_may_write(self) -> None:
        if not self._may_write():
            raise NotLeadingError

    async def send(self, packet: PacketOut) -> None:
        """Send a packet-out."""
        await self._send(self._messages.packet_out(packet))

    async def _send(self, message: p4r.StreamMessageRequest) -> None:
        try:
            async with self._sending:
                with self._in_session():
                    await self._client.send(message)
        except P4ClientError as error:
            raise self._explain(error) from None

    async def receive(self) -> AsyncIterator[Arbitrated | Refused | Input]:
        """Yield what the switch says."""
        while True:
            message = await self._message()
            if self._take_arbitration(message):
                yield Arbitrated()
            elif message.WhichOneof("update") == "error":
                yield self._refused(message.error)
            else:
                for input in await self._inputs(message):
                    yield input

    async def _message(self) -> p4r.StreamMessageResponse:
        try:
            return await self._client.receive()
        except P4ClientError as error:
            raise self._explain(error) from None
        except RuntimeError:
            # So finsy tells that the switch ended the stream in good order.
            raise SwitchError(f"the switch at {self._config.address} ended the session", away=True) from None

    async def _inputs(self, message: p4r.StreamMessageResponse) -> Iterable[Input]:
        match message.WhichOneof("update"):
            case "packet":
                return [self._messages.packet_in(message.packet)]
            case "digest":
                digest = decode_stream(message, self._schema)
                await self._send(digest.ack().encode_update(self._schema))
                return told(digest)
            case "idle_timeout_notification":
                return [IdleEntry(entry) for entry in decode_stream(message, self._schema)]
        return []

    def _take_arbitration(self, message: p4r.StreamMessageResponse) -> bool:
        """Note whether the switch listens to us; return whether the message said so."""
        if message.WhichOneof("update") != "arbitration":
            return False
        self.is_primary = message.arbitration.status.code == GRPCStatusCode.OK
        self.highest_election_id = U128.decode(message.arbitration.election_id)
        return True

    def _refused(self, error: p4r.StreamError) -> Refused:
        kind = error.WhichOneof("details") or "message"
        said = error.message or f"gRPC code {error.canonical_code}"
        text = f"the switch at {self._config.address} refuses what the controller sends ({kind}): {said}"
        if kind == "packet_out":
            text += f"; neighbours stay unknown: start the switch with --cpu-port {CPU_PORT}"
        return Refused(kind, text)

    def _sign(self, message: PBMessage) -> None:
        if isinstance(message, p4r.SetForwardingPipelineConfigRequest | p4r.WriteRequest):
            message.election_id.CopyFrom(U128.encode(self._election_id))

    def _explain(self, error: P4ClientError) -> SwitchError:
        """Return what went wrong in one line."""
        address, device = self._config.address, self._config.device_id
        if error.is_election_id_used:
            return SwitchError(f"another controller has the switch at {address}; stop it first")
        match error.code:
            case GRPCStatusCode.UNAVAILABLE:
                return SwitchError(f"no switch answers at {address}; start it, or set switch.address", away=True)
            case GRPCStatusCode.NOT_FOUND:
                text = f"the switch at {address} has no device {device} ({error.message})"
                return SwitchError(f"{text}; set switch.device_id to its --device-id", lasting=True)
            case GRPCStatusCode.PERMISSION_DENIED:
                return SwitchError(f"the switch at {address} listens to another controller; stop that one")
        return SwitchError(f"the switch at {address}: {error.message or error.code.name}; it is asked again")
