"""The embedded switch in this process: no root, no threads of its own, time in our hand.

PTF's data plane stays as it is. Our port class hands frames to the switch, and all that comes out goes back through a
packet source that PTF's thread reads. `send` returns when that thread has taken everything, so "no packet" is a fact as
soon as a packet is sent, and PTF's timeouts can be zero.
"""

import os
import time
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import ptf
import wayname_switch
from finsy.p4schema import P4Schema
from finsy.proto import p4i, p4r
from ptf.dataplane import DataPlanePacketSourceIface, DataPlanePortIface

from harness.target import DEVICE_ID, RefusedError, Status, told
from wayname.p4_constants import CPU_PORT

MILLISECOND = 1_000_000


class Outputs(DataPlanePacketSourceIface):
    """What left the switch, on its way to PTF's thread."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[int, int, bytes, float]] = deque()
        self._bell = os.eventfd(0, os.EFD_SEMAPHORE)

    def fileno(self) -> int:
        """Readable as long as a frame waits."""
        return self._bell

    def recv(self) -> tuple[int, int, bytes, float]:
        """PTF's thread takes a frame."""
        os.eventfd_read(self._bell)
        return self._waiting.popleft()

    def deliver(self, outputs: Iterable[wayname_switch.Output]) -> None:
        """Hand frames over, and return when PTF has them all."""
        frames = [(0, output.port, output.packet, time.time()) for output in outputs]
        if not frames:
            return
        plane = ptf.dataplane_instance
        with plane.cvar:
            self._waiting.extend(frames)
            os.eventfd_write(self._bell, len(frames))
            while self._waiting:
                plane.cvar.wait()


class InProcess:
    """A `Target` over the Python binding."""

    at_once = True
    patience = 0.0

    def __init__(self, program: Path) -> None:
        self.outputs = Outputs()
        self._switch = wayname_switch.Switch(wayname_switch.device_config(str(program)), cpu_port=CPU_PORT)
        self.schema = P4Schema(p4i.P4Info.FromString(self._switch.p4info()))
        self._now = MILLISECOND
        self._messages: defaultdict[str, deque[p4r.StreamMessageResponse]] = defaultdict(deque)

    def write(
        self,
        updates: Sequence[p4r.Update],
        atomicity: p4r.WriteRequest.Atomicity.ValueType = p4r.WriteRequest.CONTINUE_ON_ERROR,
    ) -> list[Status]:
        """Carry out updates; one status each."""
        request = p4r.WriteRequest(device_id=DEVICE_ID, updates=updates, atomicity=atomicity)
        try:
            return [Status(*status) for status in self._switch.write(request.SerializeToString(), self._now)]
        except wayname_switch.StatusError as error:
            raise RefusedError(told("Write", (update.entity for update in updates)), Status(*error.args)) from None

    def read(self, entities: Iterable[p4r.Entity]) -> list[p4r.Entity]:
        """Read what matches."""
        entities = list(entities)
        request = p4r.ReadRequest(device_id=DEVICE_ID, entities=entities)
        try:
            response = self._switch.read(request.SerializeToString(), self._now)
        except wayname_switch.StatusError as error:
            raise RefusedError(told("Read", entities), Status(*error.args)) from None
        return list(p4r.ReadResponse.FromString(response).entities)

    def inject(self, port: int, frame: bytes) -> None:
        """Let a frame enter by a port."""
        self._now += MILLISECOND
        self.outputs.deliver(self._switch.inject(port, frame, self._now))

    def send(self, message: p4r.StreamMessageRequest) -> None:
        """Send a packet-out or the acknowledgement of a digest."""
        if message.HasField("digest_ack"):
            self._switch.acknowledge(message.digest_ack.SerializeToString())
        else:
            self._now += MILLISECOND
            self.outputs.deliver(self._switch.packet_out(message.packet.SerializeToString(), self._now))

    def next(self, kind: str) -> p4r.StreamMessageResponse | None:
        """The next message of a kind that is due."""
        match kind:
            case "packet":
                due = [
                    p4r.StreamMessageResponse(packet=p4r.PacketIn.FromString(text))
                    for text in self._switch.packets_in()
                ]
            case "digest":
                due = [
                    p4r.StreamMessageResponse(digest=p4r.DigestList.FromString(text))
                    for text in self._switch.digests(self._now)
                ]
            case _:
                entries = [p4r.TableEntry.FromString(text) for text in self._switch.idle_timeouts(self._now)]
                note = p4r.IdleTimeoutNotification(table_entry=entries, timestamp=self._now)
                due = [p4r.StreamMessageResponse(idle_timeout_notification=note)] if entries else []
        messages = self._messages[kind]
        messages.extend(due)
        return messages.popleft() if messages else None

    def pass_time(self, seconds: float) -> None:
        """Let time pass."""
        self._now += round(seconds * 1_000_000_000)
        self.outputs.deliver(self._switch.advance(self._now))

    def watch(self, packets: str) -> None:
        """Trace these packets from now on."""
        self._switch.watch(packets)

    def traces(self) -> list[str]:
        """End that; the last traces, as text."""
        self._switch.watch(None)
        return self._switch.traces(text=True)


class InProcessPort(DataPlanePortIface):
    """PTF's end of a port of the switch in this process."""

    def __init__(self, interface: str, device: int, port: int, config: dict[str, Any]) -> None:
        self._port = port
        self._target: InProcess = config["target"]

    def get_packet_source(self) -> Outputs:
        """One source for all ports: frames keep the order in which they left."""
        return self._target.outputs

    def send(self, packet: bytes) -> int:
        """Let a frame enter the switch."""
        self._target.inject(self._port, packet)
        return len(packet)
