"""A host's traffic on the kernel's stack: the commands and events of `wayname-host` that labs use, docs/host.md.

It needs only Python itself, since a network namespace may be entered with any Python.
"""

import asyncio
import errno
import ipaddress
import json
import os
import socket
import struct
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Command = dict[str, Any]

ECHO_REQUEST, ECHO_REPLY = 128, 129
PIECE = 64 * 1024
SEQUENCE = struct.Struct(">QQ")  # number and time of a datagram
INTERFACES = Path("/proc/net/if_inet6")
# What ICMPv6 "destination unreachable" becomes (RFC 4443, section 3.1), and how soon a connection is tried again.
UNREACHABLE = frozenset((errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EACCES))
AGAIN = 0.2


@contextmanager
def lost_if_unreachable() -> Iterator[None]:
    """Take it as a loss, not as an end, that some router knows no way just now."""
    try:
        yield
    except OSError as error:
        if error.errno not in UNREACHABLE:
            raise


@dataclass(slots=True)
class LinuxHost:
    """The flows of a host, and where their events go."""

    flows: dict[int, asyncio.Task[None]] = field(default_factory=dict)
    last_flow: int = 0

    def tell(self, event: str, flow: int | None = None, **fields: object) -> None:
        """Write an event."""
        whose = {} if flow is None else {"flow": flow}
        print(json.dumps({"at_ns": time.monotonic_ns(), **whose, "event": event, **fields}), flush=True)

    def begin(self, app: str, run: Callable[[int], Awaitable[None]]) -> int:
        """Give a program a flow and let it run."""
        self.last_flow += 1
        flow = self.last_flow
        self.tell("started", flow, app=app)
        self.flows[flow] = asyncio.create_task(self._guarded(flow, run))
        return flow

    def carry_out(self, command: Command) -> None:
        """Do what a line said."""
        programs: dict[str, Callable[[int, Command], Awaitable[None]]] = {
            "ping": self._ping,
            "tcp_send": self._tcp_send,
            "udp_receive": self._udp_receive,
            "udp_send": self._udp_send,
        }
        name = command["command"]
        if name == "stop" and command["flow"] in self.flows:
            self.flows.pop(command["flow"]).cancel()
            self.tell("stopped", command["flow"])
        elif name == "tcp_serve":
            self._listen(command)
        elif name in programs:
            self.begin(name, lambda flow: programs[name](flow, command))
        else:
            self.tell("refused", text=f"a Linux host does not know the command '{name}'")

    async def _guarded(self, flow: int, run: Callable[[int], Awaitable[None]]) -> None:
        try:
            await run(flow)
        except OSError as error:
            self.tell("tcp_done", flow, outcome=error.strerror or "failed")
        self.flows.pop(flow, None)

    async def _ping(self, flow: int, command: Command) -> None:
        loop = asyncio.get_running_loop()
        # For a raw ICMPv6 socket the kernel fills in the checksum (RFC 3542, section 3.1).
        with socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6) as raw:
            raw.setblocking(False)
            raw.connect((command["to"], 0))
            ident = (os.getpid() + flow) & 0xFFFF
            sent: dict[int, int] = {}
            reading = asyncio.create_task(self._echo_replies(flow, raw, ident, sent))
            number, due = 0, loop.time()
            try:
                while command.get("count", 4) in (0, *range(number + 1, 1 << 16)):
                    sent[number & 0xFFFF] = time.monotonic_ns()
                    request = struct.pack(">BBHHH", ECHO_REQUEST, 0, 0, ident, number & 0xFFFF)
                    # Of an ICMPv6 error about an earlier request the socket tells with the next: that is lost, too.
                    with lost_if_unreachable():
                        await loop.sock_sendall(raw, request + bytes(56))
                    number += 1
                    due += command.get("interval", 1.0)
                    await asyncio.sleep(due - loop.time())
                    self._count_lost(flow, sent, command.get("timeout", 1.0))
            finally:
                reading.cancel()

    async def _echo_replies(self, flow: int, raw: socket.socket, ident: int, sent: dict[int, int]) -> None:
        loop = asyncio.get_running_loop()
        while True:
            packet = b""
            with lost_if_unreachable():
                packet = await loop.sock_recv(raw, PIECE)
            if len(packet) < 8 or packet[0] != ECHO_REPLY or int.from_bytes(packet[4:6]) != ident:
                continue
            sequence = int.from_bytes(packet[6:8])
            if sequence in sent:
                rtt = time.monotonic_ns() - sent.pop(sequence)
                self.tell("ping_reply", flow, sequence=sequence, bytes=len(packet) - 8, rtt_ns=rtt)

    def _count_lost(self, flow: int, sent: dict[int, int], timeout: float) -> None:
        long_ago = time.monotonic_ns() - round(timeout * 1e9)
        for sequence in [sequence for sequence, at in sent.items() if at < long_ago]:
            del sent[sequence]
            self.tell("ping_lost", flow, sequence=sequence)

    def _listen(self, command: Command) -> None:
        # At once: who hears that the server has started may connect.
        try:
            listener = socket.create_server(("::", command["port"]), family=socket.AF_INET6)
        except OSError as error:
            self.tell("refused", text=f"port {command['port']}: {error.strerror}")
            return
        self.begin("tcp_serve", lambda flow: self._tcp_serve(listener, command.get("interval", 1.0)))

    async def _tcp_serve(self, listener: socket.socket, interval: float) -> None:
        def accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            local, remote = (_text(writer.get_extra_info(name)) for name in ("sockname", "peername"))
            number = self.begin("tcp_sink", lambda flow: self._sink(flow, reader, writer, interval))
            self.tell("tcp_connected", number, local=local, remote=remote)

        server = await asyncio.start_server(accepted, sock=listener)
        async with server:
            await server.serve_forever()

    async def _sink(
        self, flow: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, interval: float
    ) -> None:
        began = last = grown = time.monotonic_ns()
        total = told = gap = 0
        ended = False
        while not ended:
            try:
                async with asyncio.timeout(interval):
                    data = await reader.read(PIECE)
                total += len(data)
                ended = not data
            except TimeoutError:
                data, ended = b"", False
            now = time.monotonic_ns()
            gap = max(gap, now - grown)
            grown = now if data else grown
            if now - last >= interval * 1e9 or ended:
                self._rate(flow, total - told, total, now - last, gap)
                last, told, gap = now, total, 0
        writer.close()
        duration = max(time.monotonic_ns() - began, 1)
        rate = total * 8_000_000_000 // duration
        self.tell("tcp_done", flow, outcome="finished", bytes=total, duration_ns=duration, bits_per_second=rate)

    def _rate(self, flow: int, octets: int, total: int, period: int, gap: int) -> None:
        rate = octets * 8_000_000_000 // max(period, 1)
        counts = {"bytes": octets, "total_bytes": total, "interval_ns": period, "bits_per_second": rate}
        self.tell("rate", flow, **counts, longest_gap_ns=gap)

    async def _tcp_send(self, flow: int, command: Command) -> None:
        loop = asyncio.get_running_loop()
        writer = await self._connect(command["to"], command["port"])
        began, sent, pace = loop.time(), 0, command.get("pace")
        goal = command.get("bytes")
        try:
            while goal is None or sent < goal:
                size = PIECE if pace is None else 1400
                writer.write(bytes(size if goal is None else min(size, goal - sent)))
                await writer.drain()
                sent += size
                if pace is not None:
                    await asyncio.sleep(began + sent * 8 / pace - loop.time())
        except asyncio.CancelledError:
            # Reset it: what the kernel holds of a flow that is stopped would go on for seconds, beside the next one.
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
            raise
        finally:
            writer.close()
        await writer.wait_closed()
        self.tell("tcp_done", flow, outcome="finished", bytes=goal)

    async def _connect(self, to: str, port: int) -> asyncio.StreamWriter:
        """Connect, as soon as there is a way: that a router knows none for a moment ends only this attempt."""
        while True:
            with lost_if_unreachable():
                _, writer = await asyncio.open_connection(to, port)
                return writer
            await asyncio.sleep(AGAIN)

    async def _udp_send(self, flow: int, command: Command) -> None:
        loop = asyncio.get_running_loop()
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sender:
            sender.setblocking(False)
            number, due = 0, loop.time()
            while True:
                data = SEQUENCE.pack(number, time.monotonic_ns()).ljust(command.get("size", 200), b"\0")
                # The network may be away for a moment; the datagram is lost then, as any other.
                try:
                    await loop.sock_sendto(sender, data, (command["to"], command["port"]))
                except OSError as error:
                    self.tell("lost", flow, text=error.strerror)
                number += 1
                due += 1 / command.get("rate", 100.0)
                await asyncio.sleep(due - loop.time())

    async def _udp_receive(self, flow: int, command: Command) -> None:
        loop = asyncio.get_running_loop()
        interval = command.get("interval", 1.0)
        received = octets = expected = gap = 0
        last, told = None, loop.time()
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as receiver:
            receiver.setblocking(False)
            receiver.bind(("::", command["port"]))
            while True:
                data, sender = await loop.sock_recvfrom(receiver, PIECE)
                now = time.monotonic_ns()
                received, octets = received + 1, octets + len(data)
                expected = max(expected, SEQUENCE.unpack_from(data)[0] + 1)
                gap = max(gap, now - last) if last is not None else 0
                last = now
                if loop.time() - told >= interval:
                    told = loop.time()
                    counts = {"received": received, "bytes": octets, "expected": expected, "lost": expected - received}
                    self.tell("udp_report", flow, **counts, longest_gap_ns=gap, **{"from": _text(sender)})


def _text(address: tuple[str, int]) -> str:
    return f"[{address[0]}]:{address[1]}"


def _addresses() -> list[str]:
    """Return the addresses that other networks can reach and that are no longer tentative."""
    found = []
    for line in INTERFACES.read_text("ascii").splitlines():
        digits, _, length, scope, flags, interface = line.split()
        tentative = int(flags, 16) & 0x40
        if scope == "00" and interface != "lo" and not tentative:
            found.append(f"{ipaddress.IPv6Address(bytes.fromhex(digits))}/{int(length, 16)}")
    return found


async def _tell_addresses(host: LinuxHost) -> None:
    known: set[str] = set()
    while True:
        for address in _addresses():
            if address not in known:
                known.add(address)
                host.tell("address_added", address=address)
        await asyncio.sleep(0.1)


async def main() -> None:
    """Carry out commands until the input ends."""
    loop = asyncio.get_running_loop()
    host = LinuxHost()
    watching = asyncio.create_task(_tell_addresses(host))
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    async for line in reader:
        host.carry_out(json.loads(line))
    watching.cancel()
    for task in host.flows.values():
        task.cancel()


if __name__ == "__main__":
    asyncio.run(main())
