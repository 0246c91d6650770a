"""What edges tell each other of their paths, among all octets that these bear (docs/scheduling.md).

Numbers and reports are a destination option before the header that shows their session. A report without a packet to go
with is a packet of its own, as is the copy that probes a path.
"""

from __future__ import annotations

from dataclasses import dataclass

ETHERNET, IPV6 = 14, 40
DESTINATION_OPTIONS, SHIM6, ESP, NO_NEXT_HEADER = 60, 140, 50, 59
OPTION = 0x1E  # RFC 4727: experimental
# Of ESP with nothing behind its SPI and sequence number.
ESP_HEADER = 8
# Of an option that bears a report, and of the report in it.
WITH_REPORT, REPORT = 20, 16


@dataclass(slots=True)
class FeedbackOctets:
    """Octets of IPv6 packets."""

    all: int = 0
    numbers: int = 0  # numbers and orders in packets of hosts
    reports: int = 0  # in packets of hosts
    packets: int = 0  # packets that bear nothing else

    def note(self, frame: bytes) -> None:
        """Count a frame."""
        octets = len(frame) - ETHERNET
        self.all += octets
        begin = ETHERNET + IPV6
        if frame[12:14] != b"\x86\xdd" or frame[20] != DESTINATION_OPTIONS or frame[begin + 2] != OPTION:
            return
        length = (frame[begin + 1] + 1) * 8
        inner, behind = frame[begin], begin + length
        alone = frame[behind] == NO_NEXT_HEADER if inner == SHIM6 else len(frame) <= behind + ESP_HEADER
        if alone:
            self.packets += octets
        else:
            report = REPORT if frame[begin + 3] >= WITH_REPORT else 0
            self.reports += report
            self.numbers += length - report

    @property
    def share_of_numbers(self) -> float:
        """Of all octets, in percent: those of numbers and orders."""
        return self._share(self.numbers)

    @property
    def share_of_reports(self) -> float:
        """Of all octets, in percent: those of reports, and of packets that bear nothing else."""
        return self._share(self.reports + self.packets)

    def _share(self, octets: int) -> float:
        return 100 * octets / self.all if self.all else 0.0
