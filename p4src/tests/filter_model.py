"""What simple security lets through (RFC 6092), written from docs/simple-security.md and not from the pipeline."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

TCP, UDP, ESP, ICMPV6, SCTP, UDP_LITE, HIP = 6, 17, 50, 58, 132, 136, 139
ECHO_REQUEST, ECHO_REPLY = 128, 129
PASSES = (ESP, HIP)
DOMAIN, IKE = 53, 500


class Lives(Enum):
    """How long a record lives without a packet, in seconds."""

    NAME_QUERY = 30
    QUERY = 60
    TRANSITORY = 240
    ENDPOINT = 300
    ESTABLISHED = 7440


class Sent(NamedTuple):
    """A packet at the border; ports and remote end as the inside sees them."""

    outbound: bool
    protocol: int
    remote: str
    local_port: int = 0  # of ICMPv6 the identifier
    remote_port: int = 0
    flags: str = ""
    icmp_type: int = 0
    about: Sent | None = None  # an ICMPv6 error, and the packet from inside that it quotes


@dataclass
class _Record:
    last: float
    lives: Lives
    stage: str = ""


Key = tuple[str | int, ...]


@dataclass
class FilterModel:
    """One host inside; as many records as there are flows."""

    address_dependent: bool = False
    records: dict[Key, _Record] = field(default_factory=dict)

    def passes(self, now: float, sent: Sent) -> bool:
        """Whether a packet crosses the border; what it changes is remembered."""
        if sent.about is not None:
            return sent.outbound or sent.about.protocol in PASSES or self._found(now, sent.about)
        if sent.outbound:
            self._goes_out(now, sent)
            return True
        if sent.protocol in PASSES or (sent.protocol == UDP and sent.local_port == IKE):
            return True
        found = self._found(now, sent)
        record = self.records.get(self._key(sent))
        if record is not None and self._alive(now, record) and record.stage:
            self._advance(record, sent)
            record.last = now
        return found

    def _key(self, sent: Sent) -> Key:
        if sent.protocol in (TCP, SCTP):
            return (sent.protocol, sent.remote, sent.local_port, sent.remote_port)
        if sent.protocol == ICMPV6:
            return (ICMPV6, sent.remote, sent.local_port)
        return (sent.protocol, sent.local_port, sent.remote if self.address_dependent else "")

    def _alive(self, now: float, record: _Record | None) -> bool:
        return record is not None and now - record.last < record.lives.value

    def _found(self, now: float, sent: Sent) -> bool:
        if self._alive(now, self.records.get(self._key(sent))):
            return True
        endpoint = self.records.get(("endpoint", sent.protocol, sent.local_port))
        return sent.protocol in (TCP, SCTP) and not self.address_dependent and self._alive(now, endpoint)

    def _goes_out(self, now: float, sent: Sent) -> None:
        answers = "R" in sent.flags or sent.flags == "SA" or sent.icmp_type == ECHO_REPLY or sent.protocol in PASSES
        key = self._key(sent)
        record = self.records.get(key)
        if not self._alive(now, record):
            if answers:
                return
            record = self.records[key] = _Record(-1e9, self._first(sent))
            if sent.protocol in (TCP, SCTP):
                record.stage = "opening"
        assert record is not None
        if record.stage:
            if record.last > 0:
                self._advance(record, sent)
        elif sent.protocol == UDP and sent.remote_port != DOMAIN:
            record.lives = Lives.ENDPOINT
        refreshed = int(record.last * 1e6) >> 26 != int(now * 1e6) >> 26
        if record.stage and refreshed and not answers:
            self.records["endpoint", sent.protocol, sent.local_port] = _Record(now, Lives.ENDPOINT)
        record.last = now

    def _first(self, sent: Sent) -> Lives:
        if sent.protocol in (TCP, SCTP):
            return Lives.TRANSITORY
        if sent.protocol == ICMPV6:
            return Lives.QUERY
        return Lives.NAME_QUERY if sent.remote_port == DOMAIN else Lives.ENDPOINT

    def _advance(self, record: _Record, sent: Sent) -> None:
        if "F" in sent.flags or "R" in sent.flags:
            record.stage, record.lives = "closing", Lives.TRANSITORY
        elif record.stage == "closing" and sent.outbound and "S" in sent.flags:
            record.stage = "opening"
        elif record.stage == "opening" and not sent.outbound:
            record.stage = "answered"
        elif record.stage == "answered" and sent.outbound and "S" not in sent.flags:
            record.stage, record.lives = "established", Lives.ESTABLISHED
