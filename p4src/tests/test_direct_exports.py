"""What nodes export of packets that ask for it, by digest (RFC 9326)."""

from __future__ import annotations

import pytest
from carriers import HOP_BY_HOP, ipv6, options
from finsy.proto import p4r
from segment_cases import from_first_host
from site_switch import MICROSECOND, SiteSwitch

from small_site import FAR, IP_OF, udp

EPOCH = 1_795_000_000_000_000
NODE, DATA = 0xABC, 0x11223344
FLOW, SEQUENCE = 0x80, 0x40


@pytest.fixture
def edge() -> SiteSwitch:
    switch = SiteSwitch()
    switch.add(
        "export_rules", "export_directly", {"port": 1, "namespace": 7}, {"node": NODE, "data": DATA, "epoch": EPOCH}
    )
    update = p4r.Update(type=p4r.Update.INSERT)
    update.entity.digest_entry.digest_id = switch.digests["direct_export"]
    update.entity.digest_entry.config.max_list_size = 1
    switch.write(update)
    return switch


def asking(extensions: int, fields: bytes, namespace: int = 7, type_: int = 0xC00000) -> bytes:
    data = b"\0\4" + namespace.to_bytes(2) + bytes([0, extensions]) + type_.to_bytes(3) + b"\0" + fields
    body = options(17, b"\1\0", bytes([0x11, len(data)]) + data)
    return bytes(from_first_host(ipv6(HOP_BY_HOP, body + bytes(udp())[40:], IP_OF[1], FAR)))


def exported(switch: SiteSwitch) -> list[list[int]]:
    lists = [p4r.DigestList.FromString(text) for text in switch.switch.digests(switch.now)]
    return [
        [int.from_bytes(member.bitstring) for member in data.struct.members] for each in lists for data in each.data
    ]


@pytest.mark.parametrize(
    ("extensions", "fields", "flow", "sequence"),
    [
        pytest.param(0, b"", 0, 0, id="neither"),
        pytest.param(FLOW, b"\0\0\0\x09", 9, 0, id="flow"),
        pytest.param(SEQUENCE, b"\0\0\0\x05", 0, 5, id="sequence"),
        pytest.param(FLOW | SEQUENCE, b"\1\2\3\4\0\0\0\x06", 0x01020304, 6, id="both"),
        pytest.param(FLOW | SEQUENCE, b"\1\2\3\4", 0, 0, id="cut"),
        pytest.param(FLOW | 1, b"\0\0\0\x09\xff\xff\xff\xff", 9, 0, id="unknown one behind"),
    ],
)
def test_what_is_exported(edge: SiteSwitch, extensions: int, fields: bytes, flow: int, sequence: int) -> None:
    assert [port for port, _ in edge.send(1, asking(extensions, fields))] == [4]
    time = EPOCH + edge.now // MICROSECOND
    assert exported(edge) == [[7, 0xC00000, flow, sequence, NODE, 63, 1, 4, time, DATA]]


def test_a_tunnels_end_exports_what_came_by_the_tunnel(edge: SiteSwitch) -> None:
    edge.add("sids", "end_dt6", {"destination": "fd00:d6::1/128"}, {"vrf": 0})
    data = b"\0\4\0\7\0\xc0\xc0\0\0\0" + (9).to_bytes(4) + (6).to_bytes(4)
    around = options(41, b"\1\0", bytes([0x11, len(data)]) + data)
    inside = bytes(udp(hlim=30))
    tunnel = bytes(from_first_host(ipv6(HOP_BY_HOP, around + inside, IP_OF[1], "fd00:d6::1")))
    assert [port for port, _ in edge.send(1, tunnel)] == [4]
    assert exported(edge) == [[7, 0xC00000, 9, 6, NODE, 29, 1, 4, EPOCH + edge.now // MICROSECOND, DATA]]


def test_a_foreign_namespace_is_not_ours_to_tell(edge: SiteSwitch) -> None:
    assert [port for port, _ in edge.send(1, asking(0, b"", namespace=8))] == [4]
    assert exported(edge) == []


def test_exports_come_at_the_rate_of_their_port(edge: SiteSwitch) -> None:
    meter = p4r.Update(type=p4r.Update.MODIFY)
    entry = meter.entity.meter_entry
    entry.meter_id = edge.meters["export_meter"]
    entry.index.index = 1
    entry.config.cir = entry.config.pir = 1
    entry.config.cburst = entry.config.pburst = 3
    edge.write(meter)
    seen = []
    for number in range(8):
        edge.send(1, asking(SEQUENCE, number.to_bytes(4)))
        seen += [fields[3] for fields in exported(edge)]
    assert seen == [0, 1, 2]
