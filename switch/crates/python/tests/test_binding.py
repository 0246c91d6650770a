"""The binding on a program that uses each of its calls."""

from __future__ import annotations

import json

import pytest
import wayname_switch
from finsy.proto import p4i, p4r

PROGRAM = """
#include <core.p4>
#include <v1model.p4>

@controller_header("packet_in") header packet_in_t { bit<16> port; }
@controller_header("packet_out") header packet_out_t { bit<16> port; }
header tag_t { bit<8> value; }
struct headers_t { packet_in_t up; packet_out_t down; tag_t tag; }
struct metadata_t {}
struct seen_t { bit<8> value; bit<9> port; }

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        transition select(std.ingress_port) {
            510: from_controller;
            default: tag;
        }
    }
    state from_controller { packet.extract(hdr.down); transition tag; }
    state tag { packet.extract(hdr.tag); transition accept; }
}
control V(inout headers_t hdr, inout metadata_t meta) { apply {} }
control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action forward(bit<9> port) { std.egress_spec = port; }
    action punt() { std.egress_spec = 510; hdr.up.setValid(); hdr.up.port = (bit<16>) std.ingress_port; }
    action learn() { digest<seen_t>(1, { hdr.tag.value, std.ingress_port }); mark_to_drop(std); }
    action drop() { log_msg("tag {} is not known", { hdr.tag.value }); mark_to_drop(std); }
    table tags {
        key = { hdr.tag.value: exact; }
        actions = { forward; punt; learn; drop; }
        default_action = drop;
        size = 4;
        support_timeout = true;
    }
    apply {
        if (hdr.down.isValid()) {
            std.egress_spec = (bit<9>) hdr.down.port;
            hdr.down.setInvalid();
        } else {
            tags.apply();
        }
    }
}
control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) { apply {} }
control C(inout headers_t hdr, inout metadata_t meta) { apply {} }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.up); packet.emit(hdr.tag); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
"""

SECOND = 1_000_000_000


class Table:
    """Writes entries of the program's one table."""

    def __init__(self, switch: wayname_switch.Switch) -> None:
        self.switch = switch
        self.info = p4i.P4Info.FromString(switch.p4info())

    def insert(self, value: int, action: str, *params: int, idle: int = 0) -> tuple[int, str]:
        request = p4r.WriteRequest()
        update = request.updates.add(type=p4r.Update.INSERT)
        entry = update.entity.table_entry
        entry.table_id = self.info.tables[0].preamble.id
        entry.match.add(field_id=1).exact.value = bytes([value])
        entry.action.action.action_id = next(a.preamble.id for a in self.info.actions if a.preamble.alias == action)
        for index, param in enumerate(params):
            entry.action.action.params.add(param_id=index + 1, value=bytes([param]))
        entry.idle_timeout_ns = idle
        return self.switch.write(request.SerializeToString())[0]

    def read(self) -> list[p4r.Entity]:
        request = p4r.ReadRequest()
        request.entities.add().table_entry.table_id = self.info.tables[0].preamble.id
        response = p4r.ReadResponse.FromString(self.switch.read(request.SerializeToString()))
        return list(response.entities)


@pytest.fixture(params=["jit", "interpreter"])
def switch(request: pytest.FixtureRequest) -> wayname_switch.Switch:
    return wayname_switch.Switch(PROGRAM, cpu_port=510, backend=request.param)


def test_an_entry_forwards_and_reads_back(switch: wayname_switch.Switch) -> None:
    table = Table(switch)
    assert table.insert(7, "forward", 3) == (0, "")
    assert switch.inject(1, b"\x07rest", 5) == [(3, b"\x07rest", 5)]
    assert [entity.table_entry.match[0].exact.value for entity in table.read()] == [b"\x07"]


def test_a_refused_write_says_why(switch: wayname_switch.Switch) -> None:
    table = Table(switch)
    assert table.insert(7, "forward", 3)[0] == 0
    code, text = table.insert(7, "forward", 4)
    assert code == 6 and "I.tags" in text
    for value in range(3):
        assert table.insert(value, "punt")[0] == 0
    code, text = table.insert(9, "punt")
    assert code == 8 and "4" in text
    assert len(table.read()) == 4


def test_packets_go_up_and_down(switch: wayname_switch.Switch) -> None:
    Table(switch).insert(8, "punt")
    assert switch.inject(2, b"\x08") == []
    [message] = [p4r.PacketIn.FromString(packet) for packet in switch.packets_in()]
    assert (message.payload, message.metadata[0].value) == (b"\x08", b"\x02")
    out = p4r.PacketOut(payload=b"\x01!")
    out.metadata.add(metadata_id=1, value=b"\x04")
    assert switch.packet_out(out.SerializeToString()) == [(4, b"\x01!", 0)]


def test_a_port_that_v1model_has_not_is_refused(switch: wayname_switch.Switch) -> None:
    for port in (511, 512, 513):
        for use in (
            lambda port: switch.inject(port, b"\x07"),
            lambda port: switch.set_link(port, rate=8000),
            lambda port: switch.set_port_up(port, False),
            lambda port: wayname_switch.Switch(PROGRAM, cpu_port=port),
        ):
            with pytest.raises(ValueError, match=f"no port {port}; v1model's ports are 0 to 510"):
                use(port)
    assert switch.inject(510, b"\x00\x04\x07") == [(4, b"\x07", 0)]


def test_a_link_with_a_rate_delays(switch: wayname_switch.Switch) -> None:
    Table(switch).insert(7, "forward", 3)
    switch.set_link(3, rate=8000, queue=2)
    first = switch.inject(1, bytes([7] * 1000), 0)
    assert [output.at for output in first] == [SECOND]
    assert switch.inject(1, bytes([7] * 1000), 0) == []
    assert switch.next_departure() == SECOND
    assert [output.at for output in switch.advance(SECOND)] == [2 * SECOND]


def test_digests_are_acknowledged(switch: wayname_switch.Switch) -> None:
    table = Table(switch)
    table.insert(9, "learn")
    request = p4r.WriteRequest()
    entry = request.updates.add(type=p4r.Update.INSERT).entity.digest_entry
    entry.digest_id = table.info.digests[0].preamble.id
    entry.config.max_list_size = 1
    assert switch.write(request.SerializeToString()) == [(0, "")]
    switch.inject(5, b"\x09", 1)
    [digest] = [p4r.DigestList.FromString(digest) for digest in switch.digests(1)]
    members = digest.data[0].struct.members
    assert [member.bitstring for member in members] == [b"\x09", b"\x05"]
    ack = p4r.DigestListAck(digest_id=digest.digest_id, list_id=digest.list_id)
    switch.acknowledge(ack.SerializeToString())


def test_idle_entries_are_told(switch: wayname_switch.Switch) -> None:
    Table(switch).insert(7, "forward", 3, idle=SECOND)
    switch.inject(1, b"\x07", SECOND // 2)
    assert switch.idle_timeouts(SECOND) == []
    [entry] = [p4r.TableEntry.FromString(entry) for entry in switch.idle_timeouts(2 * SECOND)]
    assert entry.match[0].exact.value == b"\x07"


def test_the_program_logs(switch: wayname_switch.Switch) -> None:
    assert switch.inject(1, b"\x2a") == []
    assert switch.messages() == ["tag 42 is not known"]
    assert switch.messages() == []


def test_a_trace_names_what_happened() -> None:
    switch = wayname_switch.Switch(PROGRAM)
    Table(switch).insert(7, "forward", 3)
    switch.watch("in 1 and not bytes 0 08")
    sent = switch.inject(1, b"\x07") + switch.inject(2, b"\x07") + switch.inject(1, b"\x08")
    assert [output.port for output in sent if output.packet == b"\x07"] == [3, 3]
    [trace] = [json.loads(trace) for trace in switch.traces()]
    assert (trace["port"], trace["bytes"]) == (1, "07")
    [packet] = trace["packets"]
    ingress = next(step for step in packet["steps"] if step.get("name") == "ingress")
    [lookup] = [inner for step in ingress["steps"] for inner in step.get("steps", ()) if inner["event"] == "lookup"]
    assert (lookup["table"], lookup["hit"], lookup["action"]) == ("I.tags", True, "I.forward")
    assert lookup["entry"] == {"keys": [{"name": "hdr.tag.value", "match": "0x7"}]}
    assert packet["steps"][-1] == {"event": "sent", "port": 3, "bytes": 1}


def test_traces_are_kept_until_they_are_taken(switch: wayname_switch.Switch) -> None:
    switch.watch()
    for _ in range(70):
        switch.inject(1, b"\x2a")
    assert len(switch.traces(text=True)) == 64 and switch.traces() == []
    switch.inject(1, b"\x2a")
    [text] = switch.traces(text=True)
    assert text.startswith("received 1 bytes at port 1\n") and "log: tag 42 is not known" in text
    switch.watch(None)
    switch.inject(1, b"\x2a")
    assert switch.traces() == []
    with pytest.raises(ValueError, match="'from' is no term of a filter"):
        switch.watch("from 1")


def test_errors_are_exceptions_with_a_text() -> None:
    with pytest.raises(wayname_switch.CompileError, match=r"program:1:9: error: expected the name of a function"):
        wayname_switch.Switch("nonsense")
    with pytest.raises(ValueError, match="neither jit nor interpreter"):
        wayname_switch.Switch(PROGRAM, backend="magic")
    switch = wayname_switch.Switch(PROGRAM)
    with pytest.raises(ValueError, match="not a WriteRequest"):
        switch.write(b"\xff")
    with pytest.raises(ValueError, match="no CPU port"):
        switch.packet_out(b"")
    request = p4r.ReadRequest()
    request.entities.add().table_entry.table_id = 12345
    with pytest.raises(wayname_switch.StatusError, match="12345"):
        switch.read(request.SerializeToString())
