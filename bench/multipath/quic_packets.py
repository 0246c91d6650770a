"""Counts QUIC packets by what aioquic logs of a connection (qlog)."""

from __future__ import annotations

from typing import Any

from aioquic.quic.logger import QuicLogger, QuicLoggerTrace


class QuicPackets(QuicLogger):
    """What became of the packets of an end's connection."""

    def __init__(self) -> None:
        super().__init__()
        self.lost = 0  # those that this end sent and takes for lost
        self.reordered = 0  # those that came behind a later one
        self._latest = -1

    def start_trace(self, is_client: bool, odcid: bytes) -> QuicLoggerTrace:
        """Count what happens from now on."""
        trace = CountingTrace(self, is_client, odcid)
        self._traces.append(trace)
        return trace

    def note(self, event: str, data: dict[str, Any]) -> None:
        """Note an event; packets of the handshake have numbers of their own."""
        if event == "packet_lost":
            self.lost += 1
        elif event == "packet_received" and data["header"]["packet_type"] == "1RTT":
            number = data["header"]["packet_number"]
            self.reordered += number < self._latest
            self._latest = max(self._latest, number)


class CountingTrace(QuicLoggerTrace):
    """Keeps nothing of what it is told."""

    def __init__(self, packets: QuicPackets, is_client: bool, odcid: bytes) -> None:
        super().__init__(is_client=is_client, odcid=odcid)
        self._packets = packets

    def log_event(self, *, category: str, event: str, data: dict[str, Any]) -> None:
        """Pass an event on."""
        self._packets.note(event, data)
