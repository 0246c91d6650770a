"""The switch as a process: entries that break what annotations of the program say."""

from __future__ import annotations

import contextlib
import queue
import subprocess
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from finsy.proto import p4r, p4r_grpc, rpc_status

SWITCH = Path(__file__).resolve().parents[3] / "target" / "release" / "wayname-switch"
PATIENCE = 20.0
# gRPC's own is the path of the Unix socket, which is no name of a host.
AUTHORITY = [("grpc.default_authority", "localhost")]

TAGS, NEXTHOPS, FORWARD, RESOLVE = 0x0200_0001, 0x0200_0002, 0x0100_0001, 0x0100_0002

PROGRAM = """
#include <core.p4>
#include <v1model.p4>
#define NO_PORT 511

header tag_t { bit<8> value; }
struct headers_t { tag_t tag; }
struct metadata_t { bit<8> nexthop; }

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start { packet.extract(hdr.tag); transition accept; }
}
control V(inout headers_t hdr, inout metadata_t meta) { apply {} }
control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    @id(1) @action_restriction("
#ifdef NO_PORT
      port != NO_PORT;
#else
      no such thing
#endif
    ")
    action forward(@id(1) bit<9> port) { std.egress_spec = port; }
    @id(2) action resolve(@id(1) @refers_to(nexthops, nexthop) bit<8> nexthop) { meta.nexthop = nexthop; }
    @id(1) @entry_restriction("
      // Tags of one half only.
      tag::mask != 0 -> tag::value >= 0x80;
    ")
    table tags {
        key = { hdr.tag.value: ternary @id(1) @name("tag"); }
        actions = { resolve; @defaultonly NoAction; }
    }
    @id(2) table nexthops {
        key = { meta.nexthop: exact @id(1) @name("nexthop"); }
        actions = { forward; @defaultonly NoAction; }
    }
    apply {
        tags.apply();
        nexthops.apply();
    }
}
control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) { apply {} }
control C(inout headers_t hdr, inout metadata_t meta) { apply {} }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.tag); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
"""


@contextlib.contextmanager
def switch(folder: Path, *options: str, binary: Path = SWITCH) -> Iterator[str]:
    """A switch that runs the program; its address."""
    program, address = folder / "tags.p4", f"unix:{folder}/p4runtime"
    program.write_text(PROGRAM)
    command = [str(binary), *options, "--grpc-server-addr", address, str(program)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            next(line for line in process.stderr if "P4Runtime on" in line)
            yield address
        finally:
            process.kill()


class Primary:
    """A controller that may write."""

    def __init__(self, channel: grpc.Channel) -> None:
        self._stub = p4r_grpc.P4RuntimeStub(channel)
        self._requests: queue.Queue[p4r.StreamMessageRequest] = queue.Queue()
        bid = p4r.MasterArbitrationUpdate(device_id=1, election_id=p4r.Uint128(low=1))
        self._requests.put(p4r.StreamMessageRequest(arbitration=bid))
        self._stream = self._stub.StreamChannel(iter(self._requests.get, None))
        assert next(iter(self._stream)).arbitration.status.code == 0

    def write(self, kind: p4r.Update.Type.ValueType, entry: p4r.TableEntry) -> tuple[int, str]:
        """Code and text of one update."""
        return self.write_entity(kind, p4r.Entity(table_entry=entry))

    def write_entity(self, kind: p4r.Update.Type.ValueType, entity: p4r.Entity) -> tuple[int, str]:
        update = p4r.Update(type=kind, entity=entity)
        request = p4r.WriteRequest(device_id=1, election_id=p4r.Uint128(low=1), updates=[update])
        try:
            self._stub.Write(request, timeout=PATIENCE)
        except grpc.RpcError as error:
            trailing = {item.key: item.value for item in error.trailing_metadata()}
            details = rpc_status.Status.FromString(trailing["grpc-status-details-bin"]).details
            of_update = p4r.Error.FromString(details[0].value)
            return of_update.canonical_code, of_update.message
        return 0, ""


@contextlib.contextmanager
def primary(address: str) -> Iterator[Primary]:
    """The controller of a switch."""
    with grpc.insecure_channel(address, AUTHORITY) as channel:
        yield Primary(channel)


def action(number: int, value: bytes) -> p4r.TableAction:
    """An action of one parameter."""
    return p4r.TableAction(action=p4r.Action(action_id=number, params=[p4r.Action.Param(param_id=1, value=value)]))


def tag(value: int) -> p4r.TableEntry:
    """A tag that next hop 5 is for."""
    match = p4r.FieldMatch(field_id=1, ternary=p4r.FieldMatch.Ternary(value=bytes([value]), mask=b"\xff"))
    return p4r.TableEntry(table_id=TAGS, match=[match], priority=1, action=action(RESOLVE, b"\x05"))


def nexthop(port: bytes) -> p4r.TableEntry:
    """Next hop 5."""
    match = p4r.FieldMatch(field_id=1, exact=p4r.FieldMatch.Exact(value=b"\x05"))
    return p4r.TableEntry(table_id=NEXTHOPS, match=[match], action=action(FORWARD, port))


def test_restrictions_and_references_are_checked_if_asked_for(tmp_path: Path) -> None:
    insert, delete = p4r.Update.INSERT, p4r.Update.DELETE
    options = ("--check-restrictions", "--check-references")
    with switch(tmp_path, *options) as address, primary(address) as controller:
        code, text = controller.write(insert, tag(0x90))
        assert (code, text) == (
            5,
            "an entry of I.tags: refers to an entry of I.nexthops with nexthop 0x5, which is not there",
        )
        code, text = controller.write(insert, nexthop(b"\x01\xff"))
        assert code == 3
        assert "action I.forward breaks @action_restriction, line 3, column 7" in text
        assert "but port is 511" in text
        assert controller.write(insert, nexthop(b"\x01")) == (0, "")
        code, text = controller.write(insert, tag(0x10))
        assert code == 3
        assert "I.tags: the entry breaks @entry_restriction, line 3, column 7: it must satisfy" in text
        assert "but tag is 16 (mask 0xff)" in text
        assert controller.write(insert, tag(0x90)) == (0, "")
        code, text = controller.write(delete, nexthop(b"\x01"))
        assert code == 3
        assert "is referred to by an entry of I.tags" in text
        assert controller.write(delete, tag(0x90)) == (0, "")
        assert controller.write(delete, nexthop(b"\x01")) == (0, "")


def test_nothing_is_checked_unless_asked_for(tmp_path: Path) -> None:
    with switch(tmp_path) as address, primary(address) as controller:
        assert controller.write(p4r.Update.INSERT, tag(0x10)) == (0, "")
        assert controller.write(p4r.Update.INSERT, nexthop(b"\x01\xff")) == (0, "")


def test_copies_to_absent_ports_are_taken_if_asked_for_and_under_the_name_of_bmv2(tmp_path: Path) -> None:
    """Controllers write one flood group to switches with different ports."""
    group = p4r.MulticastGroupEntry(multicast_group_id=1, replicas=[p4r.Replica(port=b"\x03", instance=1)])
    flood = p4r.Entity(packet_replication_engine_entry=p4r.PacketReplicationEngineEntry(multicast_group_entry=group))
    bmv2 = tmp_path / "simple_switch_grpc"
    bmv2.symlink_to(SWITCH)
    refusal = (3, "multicast group 1: sends a replica to port 3, which the switch does not have")
    for binary, options, answer in (
        (SWITCH, [], refusal),
        (SWITCH, ["--allow-absent-ports"], (0, "")),
        (bmv2, ["--device-id", "1"], (0, "")),
    ):
        with switch(tmp_path, *options, binary=binary) as address, primary(address) as controller:
            assert controller.write_entity(p4r.Update.INSERT, flood) == answer


@pytest.mark.parametrize("option", ["--check-restrictions", "--check-references"])
def test_a_program_whose_annotations_mean_nothing_is_refused(option: str, tmp_path: Path) -> None:
    program = tmp_path / "wrong.p4"
    program.write_text(
        PROGRAM.replace("tag::value >=", "tag::valu >=").replace("@refers_to(nexthops,", "@refers_to(nexthop,")
    )
    command = [str(SWITCH), option, "--grpc-server-addr", f"unix:{tmp_path}/p4runtime", str(program)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert ended.returncode != 0
    wrong = {
        "--check-restrictions": "table I.tags: @entry_restriction: line 3, column 25: key `tag` has no `::valu`",
        "--check-references": "action I.resolve: parameter nexthop: @refers_to names table nexthop, which is not there",
    }
    assert wrong[option] in ended.stderr
