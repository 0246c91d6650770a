"""`wayname-switch trace --target` over TLS: whom it believes, and which certificate it shows."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from access.certificates import Authority
from access.edge import free_port
from test_adapter import SWITCH

from harness.commands import wait_until

PATIENCE = 60.0
PROGRAM = """
#include <core.p4>
#include <v1model.p4>
header ethernet_t { bit<48> destination; bit<48> source; bit<16> type; }
struct headers_t { ethernet_t ethernet; }
struct meta_t { }
parser parse(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start { packet.extract(hdr.ethernet); transition accept; }
}
control verify_sums(inout headers_t hdr, inout meta_t meta) { apply { } }
control ingress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    apply { mark_to_drop(standard); }
}
control egress(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) { apply { } }
control compute_sums(inout headers_t hdr, inout meta_t meta) { apply { } }
control deparse(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.ethernet); } }
V1Switch(parse(), verify_sums(), ingress(), egress(), compute_sums(), deparse()) main;
"""
PACKET = bytes.fromhex("02000000000a02000000000b86dd6000000000003b40") + bytes(32)


class TracedSwitch:
    """A switch with TLS to which a host sends all the time; its log is `switch.log`."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.address = f"127.0.0.1:{free_port()}"
        self.authority = Authority(folder)
        certificate, key = self.authority.issue("switch.example")
        program = folder / "program.p4"
        program.write_text(PROGRAM)
        self._wire = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._wire.bind(str(folder / "wire"))
        self._wire.listen()
        self._ended = threading.Event()
        self._host = threading.Thread(target=self._send)
        words = [str(SWITCH), str(program), "--grpc-server-addr", self.address, "-i", f"1@wire:{folder}/wire"]
        words += ["--grpc-server-ssl", "--grpc-server-cert", str(certificate), "--grpc-server-key", str(key)]
        with (folder / "switch.log").open("wb") as log:
            self._process = subprocess.Popen([*words, *options], stderr=log)
        self._host.start()

    def trace(self, *options: str, to: str = "") -> subprocess.CompletedProcess[str]:
        """Run the command to its end: after two packets, or when it cannot ask."""
        words = [str(SWITCH), "trace", "--target", to or self.address, "--count", "2", "--json", *options, "ip6"]
        return subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, check=False)

    def end(self) -> None:
        """End it and its host."""
        self._process.kill()
        self._process.wait()
        self._ended.set()
        with contextlib.suppress(OSError):
            self._wire.shutdown(socket.SHUT_RDWR)
        self._host.join()
        self._wire.close()

    def _send(self) -> None:
        with contextlib.suppress(OSError):
            wire, _ = self._wire.accept()
            with wire:
                while not self._ended.wait(0.02):
                    wire.send(PACKET)


@contextlib.contextmanager
def traced(folder: Path, *options: str) -> Iterator[TracedSwitch]:
    """A switch that answers over TLS."""
    switch = TracedSwitch(folder, *options)
    try:
        wait_until(lambda: listens(switch.address), "the switch")
        yield switch
    finally:
        switch.end()


def listens(address: str) -> bool:
    """Whether somebody takes connections."""
    host, _, port = address.rpartition(":")
    with contextlib.suppress(OSError), socket.create_connection((host, int(port)), PATIENCE):
        return True
    return False


def ways(done: subprocess.CompletedProcess[str]) -> list[str]:
    """What became of each packet that was traced."""
    assert done.returncode == 0, done.stderr
    return [json.dumps(json.loads(line)) for line in done.stdout.splitlines()]


def test_a_switch_with_a_certificate(tmp_path: Path) -> None:
    with traced(tmp_path) as switch:
        found = ways(switch.trace("--cacert", str(switch.authority.path)))
        assert len(found) == 2
        assert all("mark_to_drop" in each for each in found)
        stranger = Authority(tmp_path, "stranger")
        refused = switch.trace("--cacert", str(stranger.path))
        assert refused.returncode != 0
        assert refused.stdout == ""
        assert len(refused.stderr.splitlines()) == 1
        plain = switch.trace()
        assert (plain.returncode != 0, plain.stdout) == (True, "")


def test_a_switch_that_wants_a_certificate(tmp_path: Path) -> None:
    authority = Authority(tmp_path, "controllers")
    with traced(tmp_path, "--grpc-server-with-client-auth", "--grpc-server-cacert", str(authority.path)) as switch:
        believed = ("--cacert", str(switch.authority.path))
        certificate, key = authority.issue("operator.example")
        assert len(ways(switch.trace(*believed, "--cert", str(certificate), "--key", str(key)))) == 2
        others, others_key = switch.authority.issue("other.example")
        for shown in ((), ("--cert", str(others), "--key", str(others_key))):
            refused = switch.trace(*believed, *shown)
            assert refused.returncode != 0
            assert refused.stdout == ""


@pytest.mark.parametrize("options", ["--cacert none.pem", "--cacert {authority} --cert none.pem --key none.key"])
def test_files_that_are_not_there(options: str, tmp_path: Path) -> None:
    with traced(tmp_path) as switch:
        done = switch.trace(*options.format(authority=switch.authority.path).split())
        assert done.returncode != 0
        assert "none." in done.stderr
        assert "panicked" not in done.stderr
