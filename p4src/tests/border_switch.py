"""The embedded switch with a site's border, and flows of the first host."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from ipaddress import IPv6Address, IPv6Network
from pathlib import Path

import finsy as fy
from border_site import INSIDE, OUTSIDE, PORT_OF, border_interfaces, bucket, entries, state
from carriers import hop_less
from finsy import P4Schema
from finsy.proto import p4i, p4r
from scapy.packet import Packet
from session_site import from_host, in_by, out_by, to_host
from site_switch import MAIN, MICROSECOND, SiteSwitch

from small_site import DROP, HOST, Entry
from wayname.p4_constants import HASH_BUCKETS_OF_POLICY

SECOND = 1_000_000


class BorderSwitch(SiteSwitch):
    """All flows have one home; times are microseconds from the border's beginning."""

    def __init__(
        self,
        home: int = 1,
        prefixes: Mapping[int, IPv6Network] = OUTSIDE,
        inside: IPv6Network = INSIDE,
        more: Iterable[Entry] = (),
        backend: str = "jit",
        program: Path = MAIN,
    ) -> None:
        super().__init__(backend, program)
        self.begin = self.now
        self.home = home
        self._neighbours: set[IPv6Address] = set()
        self._priority = 1000
        self.schema = P4Schema(p4i.P4Info.FromString(self.switch.p4info()))
        for entry in border_interfaces():
            self.modify(entry)
        for entry in (*entries(dict.fromkeys(range(HASH_BUCKETS_OF_POLICY), home), prefixes, inside), *more):
            self.add(entry.table, entry.action, entry.keys, entry.parameters)
        update = p4r.Update(type=p4r.Update.INSERT)
        update.entity.digest_entry.digest_id = self.digests["flow_events"]
        update.entity.digest_entry.config.max_list_size = 1
        self.write(update)

    def modify(self, entry: Entry) -> None:
        self.add(entry.table, entry.action, entry.keys, entry.parameters, p4r.Update.MODIFY)

    def serve(self, current: int) -> None:
        """All buckets are served by a provider now."""
        for number in range(HASH_BUCKETS_OF_POLICY):
            self.modify(bucket(number, self.home, current))

    def is_now(self, provider: int, condition: int) -> None:
        self.modify(state(provider, condition))

    def add_neighbour(self, address: IPv6Address) -> None:
        """The first host has another address."""
        if address not in self._neighbours:
            self._neighbours.add(address)
            keys: dict[str, int | str] = {"vlan": 1, "address": str(address)}
            self.add("neighbours", "set_neighbour", keys, {"port": 1, "mac": HOST[1]})

    def add_policy(
        self, number: int, local: str = "", next_header: int | None = None, remote_ports: tuple[int, int] | None = None
    ) -> None:
        """Flows go by a policy's buckets; the first that was added comes first."""
        self._priority -= 1
        match: dict[str, object] = {}
        if local:
            match["local"] = local
        if next_header is not None:
            match["next_header"] = next_header
        if remote_ports:
            match["remote_port"] = remote_ports
        action = fy.Action("use_flow_policy", number=number)
        entry = fy.P4TableEntry("flow_policies", match=fy.Match(**match), action=action, priority=self._priority)
        self.write(p4r.Update(type=p4r.Update.INSERT, entity=entry.encode(self.schema)))

    def at(self, time: float, port: int, packet: bytes) -> list[tuple[int, bytes]]:
        """What leaves, at a time in seconds."""
        moment = self.begin + int(time * SECOND) * MICROSECOND
        assert moment >= self.now, "time goes on"
        self.now = moment
        return self.send(port, packet, after=0)

    def goes_out(self, time: float, packet: Packet | bytes) -> tuple[int, bytes] | None:
        """The provider that a host's packet leaves by, and the packet; None if it does not, told or not."""
        outputs = self.at(time, 1, bytes(from_host(bytes(packet))))
        if not outputs or outputs[0][0] == 1:
            return None
        ((port, frame),) = outputs
        (provider,) = [each for each, out in PORT_OF.items() if out == port]
        assert frame[:14] == bytes(out_by(port, b""))[:14]
        return provider, frame[14:]

    def comes_in(self, time: float, provider: int, packet: Packet | bytes) -> bytes | None:
        """What the first host gets of a packet by a provider; None if nothing."""
        outputs = self.at(time, PORT_OF[provider], bytes(in_by(PORT_OF[provider], bytes(packet))))
        if not outputs:
            return None
        ((port, frame),) = outputs
        assert port == 1 and frame[:14] == bytes(to_host(b""))[:14]
        return frame[14:]

    def flow_events(self) -> list[list[int]]:
        """What was told of flows since the last time."""
        told: list[list[int]] = []
        for text in self.switch.digests(self.now):
            digest = p4r.DigestList.FromString(text)
            # What was not acknowledged would not be told again.
            ack = p4r.DigestListAck(digest_id=digest.digest_id, list_id=digest.list_id)
            self.switch.acknowledge(ack.SerializeToString())
            told += [[int.from_bytes(each.bitstring) for each in data.struct.members] for data in digest.data]
        return told


def less(packet: Packet | bytes) -> bytes:
    """The packet one hop on."""
    return hop_less(bytes(packet))


def drops(switch: BorderSwitch, reason: str) -> int:
    return switch.counted("ingress_drops", DROP[reason])
