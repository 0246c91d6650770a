"""The same edge within this process, on a clock of its own: where the processor time of a set-up goes.

Controller, switch and state file are those of a running edge; gRPC is not between them.
"""

from __future__ import annotations

import random
import resource
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from finsy import P4TableEntry
from finsy.p4entity import decode_stream, encode_entities
from finsy.proto import p4r
from wayname_switch import Switch

from bench.cost.cryptography import Cryptography
from bench.cost.edge import PROVIDER_PORT, ROUTER, STRANGERS, answer_of, site
from bench.cost.strangers import Strangers
from wayname.adapter.digests import told
from wayname.adapter.messages import Messages
from wayname.adapter.state_file import StateFile
from wayname.composition.configuration import parse_config
from wayname.composition.edge import Edge
from wayname.composition.protocols import load_keys
from wayname.edge.boundary import IdleEntry, Input, PacketOut, Persist, SwitchUp, Write, WriteFailed
from wayname.p4_constants import CPU_PORT
from wayname.pipeline.entries import everything
from wayname.pipeline.program import load_program
from wayname.pipeline.read_back import decode_entities
from wayname.wire.ethernet import TYPE_IPV6, Frame
from wayname.wire.ipv6 import Packet

T = TypeVar("T")

CONVERGED = 5.0
TICK = 0.25
# The switch goes through all its entries to find those that are idle.
IDLE_EVERY = 60.0


@dataclass(slots=True)
class Spent:
    """Processor seconds, by what they were spent on."""

    edge: float = 0.0  # set-ups: what comes of the messages of strangers
    upkeep: float = 0.0  # of the edge too: timers, and probes of paths that are not in use
    cryptography: float = 0.0  # of either, and in neither
    store: float = 0.0
    entries: float = 0.0  # made into messages of P4Runtime, packets too
    switch: float = 0.0


class EdgeWithin:
    """An edge whose packets, entries and time this process carries."""

    def __init__(self, folder: Path, strangers: Strangers, seed: int) -> None:
        config = parse_config(site(folder) + strangers.configuration(folder))
        self._schema = load_program(config.switch)
        self._messages = Messages(self._schema)
        self._switch = Switch(self._schema.p4blob.decode(), cpu_port=CPU_PORT)
        self._memory = StateFile(folder / "state")
        self._cryptography = Cryptography()
        self._strangers = strangers
        self.edge = Edge(config, self._schema, random.Random(seed), {}, None, load_keys(config))
        self.now = 1.0
        self._idle_due = IDLE_EVERY
        self.spent = Spent()
        # What is done for strangers is set-up, until time passes.
        self._is_upkeep = False
        self._leaves: deque[tuple[int, Frame]] = deque()
        request = p4r.ReadRequest(entities=encode_entities(tuple(everything()), self._schema))
        reply = p4r.ReadResponse.FromString(self._switch.read(request.SerializeToString(), self._ns()))
        self.edge.receive(SwitchUp(decode_entities(reply.entities, self._schema)), self.now)
        self._settle()
        self.pass_time(CONVERGED)

    def close(self) -> None:
        """Let go of the state file."""
        self._memory.close()

    def exchange(self, packet: Packet) -> None:
        """Let a packet come from the provider, and all that follows from it."""
        self._is_upkeep = False
        self._arrive(packet)
        self._answer()

    def pass_time(self, seconds: float) -> None:
        """Let timers run out, and answer what they ask."""
        self._is_upkeep = True
        end = self.now + seconds
        while True:
            due = self._spend(self.edge.next_timer)
            self.now = min(end, max(self.now, due) if due is not None else end, self.now + TICK)
            if due is not None and due <= self.now:
                self._spend(self.edge.handle_timer, self.now)
            if self.now >= self._idle_due:
                self._tell_of_idle_entries()
            self._settle()
            self._answer()
            if self.now >= end:
                return

    def _tell_of_idle_entries(self) -> None:
        for text in self._switch.idle_timeouts(self._ns()):
            entry = P4TableEntry.decode_entry(p4r.TableEntry.FromString(text), self._schema)
            self._spend(self.edge.receive, IdleEntry(entry), self.now)
        self._idle_due = self.now + IDLE_EVERY

    def _answer(self) -> None:
        """Let hosts, the provider's router and strangers answer what left, until there is nothing to answer."""
        while self._leaves:
            port, left = self._leaves.popleft()
            if (answer := answer_of(port, left)) is not None:
                self._inject(port, answer.encode())
                self._settle()
            elif port == PROVIDER_PORT and left.type == TYPE_IPV6:
                for packet in self._strangers.answer(Packet.decode(left.payload)):
                    self._arrive(packet)

    def _arrive(self, packet: Packet) -> None:
        self._inject(PROVIDER_PORT, Frame(ROUTER, STRANGERS, TYPE_IPV6, packet.encode()).encode())
        self._settle()

    def _spend(self, call: Callable[..., T], *arguments: Any) -> T:
        """Let the edge do something, and count its time."""
        ciphered, began = self._cryptography.seconds, time.thread_time()
        result = call(*arguments)
        took = time.thread_time() - began
        ciphered = self._cryptography.seconds - ciphered
        self.spent.cryptography += ciphered
        if self._is_upkeep:
            self.spent.upkeep += took - ciphered
        else:
            self.spent.edge += took - ciphered
        return result

    def _inject(self, port: int, frame: bytes) -> None:
        began = time.thread_time()
        outputs = self._switch.inject(port, frame, self._ns())
        self.spent.switch += time.thread_time() - began
        self._leaves.extend((output.port, Frame.decode(output.packet)) for output in outputs)

    def _settle(self) -> None:
        """Carry messages between switch and controller until there are none."""
        while True:
            outputs = self._spend(self.edge.take_outputs)
            began = time.thread_time()
            self._memory.put(*(output for output in outputs if isinstance(output, Persist)))
            self.spent.store += time.thread_time() - began
            for output in outputs:
                match output:
                    case PacketOut():
                        self._send(output)
                    case Write():
                        self._write(output)
            began = time.thread_time()
            digests, packets = self._switch.digests(self._ns() + 2_000_000), self._switch.packets_in()
            self.spent.switch += time.thread_time() - began
            inputs: list[Input] = []
            began = time.thread_time()
            for text in digests:
                listed = decode_stream(p4r.StreamMessageResponse(digest=p4r.DigestList.FromString(text)), self._schema)
                self._switch.acknowledge(listed.ack().encode_update(self._schema).digest_ack.SerializeToString())
                inputs += told(listed)
            for text in packets:
                inputs.append(self._messages.packet_in(p4r.PacketIn.FromString(text)))
            self.spent.entries += time.thread_time() - began
            for each in inputs:
                self._spend(self.edge.receive, each, self.now)
            if not outputs and not inputs:
                return

    def _send(self, output: PacketOut) -> None:
        began = time.thread_time()
        message = self._messages.packet_out(output).packet.SerializeToString()
        encoded = time.thread_time()
        leaves = self._switch.packet_out(message, self._ns())
        self.spent.entries += encoded - began
        self.spent.switch += time.thread_time() - encoded
        self._leaves.extend((one.port, Frame.decode(one.packet)) for one in leaves)

    def _write(self, output: Write) -> None:
        began = time.thread_time()
        updates = [self._messages.update(update) for update in output.updates]
        request = p4r.WriteRequest(updates=updates).SerializeToString()
        encoded = time.thread_time()
        answers = self._switch.write(request, self._ns())
        self.spent.entries += encoded - began
        self.spent.switch += time.thread_time() - encoded
        for update, (code, text) in zip(output.updates, answers, strict=True):
            if code:
                self.edge.receive(WriteFailed(update, code, text), self.now)

    def _ns(self) -> int:
        return int(self.now * 1e9)


def resident() -> int:
    """Return the octets of memory that this process has now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
