"""The base of all tests: a small edge, packets in, exactly what comes out."""

import signal
import sys
import time
import unittest
from collections import Counter
from collections.abc import Iterable, Sequence

import finsy as fy
import ptf
from finsy.p4entity import P4Entity
from finsy.proto import p4r
from ptf import testutils
from ptf.base_tests import BaseTest
from scapy.packet import Packet

from harness.collect import MARKER_VLAN, AtOnce, Collector, Markers, Punted
from harness.entries import Entries
from harness.grpc_target import GrpcTarget
from harness.target import Target
from small_site import CPU, CPU_SESSION, DROP, GROUPS, OUT, PUNT, Entry, entries

Bytes = Packet | bytes


class EntitiesTest(BaseTest):
    """A test of what the switch holds; it starts empty and is left empty."""

    def run(self, result: unittest.TestResult | None = None) -> unittest.TestResult | None:
        """Run to the end, and take away what was written, also when it shall be the last test."""
        if result is not None:
            signal.signal(signal.SIGTERM, lambda *_: result.stop())
            # What a target that has gone does not answer needs no telling by each test.
            self._end_all = result.stop
        return super().run(result)

    def setUp(self) -> None:
        """Find the target and start with nothing; skip what the target is known to fail."""
        super().setUp()
        deviation = ptf.config["deviations"].get(f"{type(self).__module__}.{type(self).__name__}")
        if deviation is not None:
            self.skipTest(f"known of this target: {deviation}")
        self.target: Target = ptf.config["target"]
        if isinstance(self.target, GrpcTarget) and (ended := self.target.controller.ended):
            self._end_all()
            self.fail(f"the target has gone; no more tests run. It ended the session with {ended.name}: {ended.text}")
        self.entries = Entries(self.target)
        self.addCleanup(self.entries.clean_up)
        self._began = time.monotonic()

    def out_of_patience(self) -> bool:
        """Whether what a target does in its own time takes too long."""
        return time.monotonic() > self._began + self.target.patience

    def needs_grpc(self) -> GrpcTarget:
        """The gRPC server; skip in process, where there is none."""
        if not isinstance(self.target, GrpcTarget):
            self.skipTest("needs a gRPC server; in process there is none")
        return self.target

    def needs_own_time(self) -> None:
        """Skip where time is not in our hand."""
        if not self.target.at_once:
            self.skipTest("needs a target whose time is in the test's hand")

    def read(self, *entities: P4Entity) -> list[p4r.Entity]:
        """What the switch holds of these."""
        return self.target.read([entity.encode(self.target.schema) for entity in entities])


class EdgeTest(EntitiesTest):
    """A test with packets, on the edge of small_site.py."""

    # Whether packets are traced in this run.
    traced = False

    def run(self, result: unittest.TestResult | None = None) -> unittest.TestResult | None:
        """Run it; if it fails, run it once more with its packets traced, and print the traces.

        Not at once: what is traced runs in the interpreter, and native code is what is tested.
        """
        before = faults(result)
        super().run(result)
        if result is not None and faults(result) > before and not self.traced and not result.shouldStop:
            print(self._trace(), file=sys.stderr)
        return result

    def _trace(self) -> str:
        """What the target tells of the packets of another run."""
        again, result = type(self)(self._testMethodName), unittest.TestResult()
        again.traced = True
        again.run(result)
        lines = [f"{self.id()} once more, traced:"]
        if not faults(result):
            lines.append("It does not fail when it is traced: look for a race, or for native code that differs.")
        traces = self.target.traces() or ["No packet was traced: the test sent none, or the target has no traces."]
        return "\n".join([*lines, *traces])

    def watch_packets(self) -> None:
        """Trace what follows, if this is the run for that; markers are none of the test's packets."""
        if self.traced:
            self.target.watch(f"not vlan {MARKER_VLAN}")

    def setUp(self) -> None:
        """Set up ports, VLANs, router and neighbours."""
        super().setUp()
        self.watch_packets()
        self.dataplane = ptf.dataplane_instance
        self.dataplane.flush()
        self.collector: Collector = (
            AtOnce(self.target) if self.target.at_once else Markers(self.target, self.entries, self.id())
        )
        self.entries.add(
            *(fy.P4MulticastGroupEntry(group, replicas=ports) for group, ports in GROUPS.items()),
            fy.P4CloneSessionEntry(CPU_SESSION, replicas=[CPU]),
            *(self.entries.entry(entry.table, entry.keys, entry.action, **entry.parameters) for entry in entries()),
        )
        self.counted = self._drops()

    def hold(self, entries: Iterable[Entry]) -> None:
        """Insert entries."""
        for entry in entries:
            self.entries.insert(entry.table, entry.keys, entry.action, **entry.parameters)

    # What a packet does.

    def verify(
        self,
        sent: Iterable[tuple[int, Bytes]],
        leave: Iterable[tuple[int, Bytes]] = (),
        punted: Sequence[Punted] = (),
        dropped: dict[str, int] | None = None,
    ) -> None:
        """Send packets; exactly these leave, these go to the controller, and these drops are counted."""
        for port, packet in sent:
            self.enter(port, packet)
        found = self.collector.collect(self)
        expected: dict[int, list[bytes]] = {}
        for port, packet in leave:
            expected.setdefault(port, []).append(bytes(packet))
        self.assertEqual(hexadecimal(found.frames), hexadecimal(expected), "what left, by port")
        self.assertEqual(found.punted, list(punted), "what went to the controller")
        counted = self._drops()
        drops = {name: counted[name] - self.counted[name] for name in DROP if counted[name] != self.counted[name]}
        self.counted = counted
        self.assertEqual(drops, dropped or {}, "drops by reason")

    def enter(self, port: int, packet: Bytes) -> None:
        """Let a packet enter by a port, or by the controller with its header in front."""
        self.collector.enters(port)
        if port == CPU:
            header, frame = bytes(packet)[:5], bytes(packet)[5:]
            fields = {"kind": header[0], "port": int.from_bytes(header[1:3]), "vlan": int.from_bytes(header[3:5])}
            self.target.send(fy.P4PacketOut(frame, **fields).encode_update(self.target.schema))
        else:
            testutils.send_packet(self, port, packet)

    def passes(self, into: int, packet: Bytes, out: int, leaves: Bytes | None = None) -> None:
        """A packet leaves by one port, changed or not."""
        self.verify([(into, packet)], [(out, packet if leaves is None else leaves)])

    def drops(self, into: int, packet: Bytes, reason: str) -> None:
        """A packet ends here, by one reason."""
        self.verify([(into, packet)], dropped={reason: 1})

    def refused(self, into: int, packet: Bytes, reason: str, error: Bytes) -> None:
        """A packet ends here, and its sender is told."""
        self.verify([(into, packet)], [(into, error)], dropped={reason: 1})

    def floods(self, into: int, packet: Bytes, punted: Sequence[Punted] = ()) -> None:
        """A packet that came untagged in VLAN 1 goes to all its other ports, tagged to port 3."""
        frame = bytes(packet)
        tagged = frame[:12] + b"\x81\x00\x00\x01" + frame[12:]
        leave = [(port, tagged if port == 3 else frame) for port in GROUPS[1] if port != into]
        self.verify([(into, packet)], leave, punted, {"DROP_FLOOD_COPY": 1})

    def punts(self, into: int, packet: Bytes, reason: str, vlan: int = 1) -> None:
        """A packet goes to the controller, and nowhere else."""
        self.verify([(into, packet)], punted=[self.punt(reason, into, vlan, packet)])

    @staticmethod
    def punt(reason: str, port: int, vlan: int, packet: Bytes) -> Punted:
        """A packet-in."""
        return Punted(PUNT[reason], port, vlan, bytes(packet))

    @staticmethod
    def out(kind: str, packet: Bytes, port: int = 0, vlan: int = 0) -> tuple[int, bytes]:
        """A packet of the controller, as `verify` sends it."""
        return CPU, bytes([OUT[f"PACKET_OUT_{kind}"]]) + port.to_bytes(2) + vlan.to_bytes(2) + bytes(packet)

    # What the switch counts.

    def counter(self, name: str) -> list[int]:
        """The packets that a counter counted, by index."""
        cells = [entity.counter_entry for entity in self.read(fy.P4CounterEntry(name))]
        return [cell.data.packet_count for cell in sorted(cells, key=lambda cell: cell.index.index)]

    def entry_counter(self, table: str, **keys: object) -> tuple[int, int]:
        """Packets and bytes that a table entry counted."""
        entry = fy.P4TableEntry(table, match=fy.Match(**keys))
        (entity,) = self.read(fy.P4DirectCounterEntry(table_entry=entry))
        data = entity.direct_counter_entry.data
        return data.packet_count, data.byte_count

    def _drops(self) -> Counter[str]:
        ingress, egress = self.counter("ingress_drops"), self.counter("egress_drops")
        return Counter({name: ingress[number] + egress[number] for name, number in DROP.items() if number})


def faults(result: unittest.TestResult | None) -> int:
    """How often tests have failed so far."""
    return 0 if result is None else len(result.failures) + len(result.errors)


def hexadecimal(frames: dict[int, list[bytes]]) -> dict[int, list[str]]:
    """For messages that people compare by eye."""
    return {port: [frame.hex() for frame in of_port] for port, of_port in sorted(frames.items()) if of_port}
