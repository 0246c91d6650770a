"""The embedded switch with one session, its events, and the controller's questions."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import finsy as fy
from carriers import hop_less, ipv6
from esp_site import EspSession
from finsy.proto import p4r
from session_cases import DATAGRAM
from session_site import LOCAL, REMOTE, Session, came_by, from_host, in_by, out_by, sent_by
from shim6_layers import NO_NEXT_HEADER, SHIM6, Shim6Keepalive
from site_switch import MAIN, MICROSECOND, SiteSwitch

from small_site import CPU, OUT, Entry

WATCH, SILENT, LEFT_PATH, UNANSWERED, FOLLOWED, HEARD = range(1, 7)
PORT_OF = {0: 4, 1: 4, 2: 5}
SCHEMA = fy.P4Schema(MAIN.parent.parent / "wayname.p4info.txtpb")
OUTWARD = ipv6(17, DATAGRAM, LOCAL, REMOTE)
INWARD = ipv6(17, DATAGRAM, REMOTE, LOCAL)
Outputs = list[tuple[int, bytes]]


class SessionEvent(NamedTuple):
    kind: int
    session: int
    path_from: int
    path_to: int
    age: int


class SessionSwitch(SiteSwitch):
    """Times are microseconds from the session's beginning."""

    def __init__(self, session: Session | EspSession, *more: Entry, backend: str = "jit", program: Path = MAIN) -> None:
        super().__init__(backend, program)
        self.session = session
        self.begin = self.now
        self._session_events: list[list[int]] = []
        self._pairs: list[list[int]] = []
        for entry in (*session.entries(), *more):
            self.add(entry.table, entry.action, entry.keys, entry.parameters)
        for digest in ("session_events", "pair_active"):
            update = p4r.Update(type=p4r.Update.INSERT)
            update.entity.digest_entry.digest_id = self.digests[digest]
            update.entity.digest_entry.config.max_list_size = 1
            self.write(update)

    def police(self, number: int = 1, priority: int = 10, **match: Any) -> None:
        """Let flows be of a policy."""
        action = fy.Action("apply_path_policy", number=number)
        entry = fy.P4TableEntry("path_policies", match=fy.Match(**match), action=action, priority=priority)
        self.write(p4r.Update(type=p4r.Update.INSERT, entity=entry.encode(SCHEMA)))

    def use(self, session: Session | EspSession) -> None:
        entry = session.identities()
        self.add(entry.table, entry.action, entry.keys, entry.parameters, p4r.Update.MODIFY)

    def at(self, time: int, port: int, packet: bytes) -> Outputs:
        assert self.begin + time * MICROSECOND >= self.now, "time goes on"
        self.now = self.begin + time * MICROSECOND
        outputs = self.send(port, packet, after=0)
        self._hear_digests()
        return outputs

    def sends(self, time: int, packet: bytes = OUTWARD) -> int:
        """The path that a packet of the host goes by; it must be right in all of its octets."""
        ((port, frame),) = [output for output in self.at(time, 1, bytes(from_host(packet))) if output[0] != CPU]
        (path,) = [
            each for each, out in PORT_OF.items() if frame == bytes(out_by(out, hop_less(sent_by(each, packet))))
        ]
        assert PORT_OF[path] == port
        return path

    def hears(self, time: int, path: int = 0, packet: bytes = INWARD) -> Outputs:
        port = PORT_OF[path]
        return self.at(time, port, bytes(in_by(port, came_by(path, packet))))

    def hears_keepalive(self, time: int, tag: int) -> Outputs:
        return self.at(time, 4, bytes(in_by(4, ipv6(SHIM6, bytes(Shim6Keepalive(tag=tag)), REMOTE, LOCAL))))

    def asks(self, time: int, kind: str, packet: bytes) -> Outputs:
        header = bytes([OUT[f"PACKET_OUT_{kind}"]]) + (1).to_bytes(2) + bytes(2)
        return self.at(time, CPU, header + bytes(from_host(packet)))

    def checks(self, time: int) -> None:
        assert self.asks(time, "CHECK", ipv6(NO_NEXT_HEADER, b"", LOCAL, REMOTE)) == []

    def keeps(self, time: int, tag: int) -> Outputs:
        return self.asks(time, "KEEPALIVE", ipv6(SHIM6, bytes(Shim6Keepalive(tag=tag)), LOCAL, REMOTE))

    def session_events(self) -> list[SessionEvent]:
        """What was told of sessions since the last time."""
        told, self._session_events = self._session_events, []
        return [SessionEvent(*members) for members in told]

    def pairs(self) -> list[list[int]]:
        """What was told of pairs of addresses since the last time: source, destination, bytes, age."""
        told, self._pairs = self._pairs, []
        return told

    def _hear_digests(self) -> None:
        for text in self.switch.digests(self.now):
            digest = p4r.DigestList.FromString(text)
            told = self._session_events if digest.digest_id == self.digests["session_events"] else self._pairs
            told += [[int.from_bytes(each.bitstring) for each in data.struct.members] for data in digest.data]
