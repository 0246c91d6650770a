"""The switch as a process: traces of live packets, and cases that are run."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SWITCH = Path(__file__).resolve().parents[3] / "target" / "release" / "wayname-switch"
PATIENCE = 20.0

PROGRAM = """
#include <core.p4>
#include <v1model.p4>

header tag_t { bit<8> value; }
struct headers_t { tag_t tag; }
struct metadata_t {}

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start { packet.extract(hdr.tag); transition accept; }
}
control V(inout headers_t hdr, inout metadata_t meta) { apply {} }
control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    counter(16, CounterType.packets) seen;
    action forward(bit<9> port) { std.egress_spec = port; }
    action drop() {
        mark_to_drop(std);
    }
    table tags {
        key = { hdr.tag.value: ternary; }
        actions = { forward; drop; }
        default_action = drop;
        const entries = { 7: forward(2); 0x70 &&& 0xf0: forward(9); }
    }
    apply {
        seen.count((bit<32>) hdr.tag.value);
        tags.apply();
    }
}
control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) { apply {} }
control C(inout headers_t hdr, inout metadata_t meta) { apply {} }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.tag); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """The program as a file."""
    file = tmp_path / "tags.p4"
    file.write_text(PROGRAM)
    return file


@contextlib.contextmanager
def wire(path: Path) -> Iterator[socket.socket]:
    """The other end of a port."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as end:
        end.settimeout(PATIENCE)
        end.connect(str(path))
        yield end


@contextlib.contextmanager
def switch(folder: Path, program: Path) -> Iterator[subprocess.Popen[str]]:
    """A switch with ports 1 and 2, once its gRPC answers."""
    ports = [word for port in (1, 2) for word in ("-i", f"{port}@wire:{folder}/{port}")]
    command = [str(SWITCH), *ports, "--grpc-server-addr", f"unix:{folder}/p4runtime", str(program)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            next(line for line in process.stderr if "P4Runtime on" in line)
            yield process
        finally:
            process.kill()


@contextlib.contextmanager
def watch(folder: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    """The command that watches packets, once they are traced."""
    command = [str(SWITCH), "trace", "--target", f"unix:{folder}/p4runtime", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            assert "watching" in next(iter(process.stderr))
            yield process
        finally:
            process.kill()


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """A command that ends by itself."""
    command = [str(SWITCH), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)


def last(trace: dict[str, Any]) -> dict[str, Any]:
    """How the packet ended."""
    step: dict[str, Any] = trace["packets"][0]["steps"][-1]
    return step


def test_live_packets_are_traced_and_happen_once(tmp_path: Path, program: Path) -> None:
    with (
        switch(tmp_path, program),
        wire(tmp_path / "1") as first,
        wire(tmp_path / "2") as second,
        watch(tmp_path, "--json", "--count", "3", "in", "1", "and", "not", "bytes", "0", "09") as watching,
    ):
        for packet in (b"\x09", b"\x07", b"\x08", b"\x71", b"\x07"):
            first.send(packet)
        out, _ = watching.communicate(timeout=PATIENCE)
        assert (second.recv(100), second.recv(100)) == (b"\x07", b"\x07")
        second.settimeout(0)
        with pytest.raises(BlockingIOError):
            second.recv(100)
    sent, dropped, lost = (json.loads(line) for line in out.splitlines())
    assert (sent["port"], sent["bytes"], last(sent)) == (1, "07", {"event": "sent", "port": 2, "bytes": 1})
    line = PROGRAM.splitlines().index("        mark_to_drop(std);") + 1
    by = last(dropped)["by"]
    assert (by["text"], by["at"]["line"]) == ("mark_to_drop(std);", line)
    assert last(lost) == {"event": "sent", "port": 9, "bytes": 1, "lost": "there is no such port"}


def test_text_has_the_entry_that_was_hit_and_a_picture_is_drawn(tmp_path: Path, program: Path) -> None:
    picture = tmp_path / "way.svg"
    with (
        switch(tmp_path, program),
        wire(tmp_path / "1") as first,
        wire(tmp_path / "2"),
        watch(tmp_path, "--count", "1", "--svg", str(picture)) as watching,
    ):
        first.send(b"\x07")
        out, _ = watching.communicate(timeout=PATIENCE)
    assert "key hdr.tag.value=0x7: hit, I.forward(port=0x2)" in out
    assert "entry hdr.tag.value:0x7&&&0xff priority" in out and "of the program" in out
    assert "I.seen: counter.count(0x7)" in out
    assert "table I.tags" in picture.read_text() and "sent at port 2" in picture.read_text()


def test_who_watches_hears_that_the_switch_stops(tmp_path: Path, program: Path) -> None:
    with switch(tmp_path, program) as process, watch(tmp_path) as watching:
        process.send_signal(signal.SIGTERM)
        _, told = watching.communicate(timeout=PATIENCE)
        assert process.wait(PATIENCE) == 0
    assert watching.returncode == 1 and "the switch stops" in told


def test_what_cannot_be_watched_is_told_in_one_line(tmp_path: Path, program: Path) -> None:
    address = f"unix:{tmp_path}/p4runtime"
    refused: list[tuple[list[str | Path], str]] = [
        (["--target", address], "no switch answers there"),
        (["--target", address, "from", "1"], "'from' is no term of a filter"),
        ([program, "a.stf", "tcp"], "a filter needs --target"),
        ([], "PROGRAM.p4"),
    ]
    for words, says in refused:
        done = run("trace", *words)
        assert done.returncode == 1 and says in done.stderr and done.stderr.count("\n") == 1, done.stderr
    with switch(tmp_path, program):
        done = run("trace", "--target", address, "--rate", "1000")
        assert done.returncode == 1 and "write 1 to 100" in done.stderr


def test_cases_are_run_and_what_fails_is_traced(tmp_path: Path, program: Path) -> None:
    good, bad = tmp_path / "good.stf", tmp_path / "bad.stf"
    good.write_text("packet 1 07aa\nexpect 2 07aa $\npacket 1 08\n")
    bad.write_text("packet 1 08\npacket 1 07aa\nexpect 2 07ab $\n")
    done = run("test", program, good)
    assert (done.returncode, done.stdout) == (0, f"{good}: passed\n1 of 1 cases passed\n")
    done = run("test", program, bad, good)
    assert done.returncode == 1 and done.stdout.endswith("1 of 2 cases passed\n")
    engines = "interpreter, native code, code for the tables' content"
    assert f"{bad}: failed ({engines})\n  line 3: port 2:\n" in done.stdout
    assert "    expected 07ab $\n    got      07aa\n                ^\n" in done.stdout
    assert "  the packet of line 2:\n    received 2 bytes at port 1\n" in done.stdout
    assert "dropped" not in done.stdout and "sent 2 bytes at port 2" in done.stdout


def test_cases_are_told_to_programs(tmp_path: Path, program: Path) -> None:
    good, bad = tmp_path / "good.stf", tmp_path / "bad.stf"
    good.write_text("packet 1 07aa\nexpect 2 07aa $\n")
    bad.write_text("packet 1 07aa\nexpect 2 07ab $\nexpect 2 08\n")
    done = run("test", program, good, bad, "--json")
    assert done.returncode == 1
    first, second = (json.loads(line) for line in done.stdout.splitlines())
    assert first == {"case": str(good), "passed": True, "failures": [], "traces": []}
    assert (second["case"], second["passed"]) == (str(bad), False)
    engines = ["interpreter", "native code", "code for the tables' content"]
    wanted = {"line": 2, "packet": 1, "what": "port 2", "expected": "07ab $", "got": "07aa"}
    assert second["failures"][0] == {"engines": engines, **wanted}
    assert (second["failures"][1]["line"], second["failures"][1]["got"]) == (3, None)
    (traced,) = second["traces"]
    assert traced["line"] == 1
    assert (traced["traces"][0]["port"], traced["traces"][0]["bytes"]) == (1, "07aa")


def test_packets_of_cases_are_traced_without_a_switch(tmp_path: Path, program: Path) -> None:
    case = tmp_path / "case.stf"
    case.write_text("packet 1 08\nexpect 2 07\n")
    done = run("trace", program, case)
    assert done.returncode == 0
    assert f"\ndropped: the program marked it in ingress: mark_to_drop(std);  ({program}:" in done.stdout


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path, program: Path) -> None:
    case = tmp_path / "case.stf"
    case.write_text("packet 1 07\nexpect 2 07\n")
    for words in (["check", program], ["test", program, case], ["trace", program, case], ["man"]):
        with subprocess.Popen([SWITCH, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None and process.stderr is not None
            process.stdout.close()
            assert (process.stderr.read(), process.wait(PATIENCE)) == ("", 0), words
