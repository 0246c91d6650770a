"""The switch as a process with few descriptors, while very many connect to its services and say nothing."""

from __future__ import annotations

import contextlib
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import grpc
import httpx
import pytest
from access.edge import free_port
from finsy.proto import p4r
from test_adapter import SWITCH
from test_silent_connections import DESCRIPTORS, PATIENCE, descriptors_of, limited, silent

# Ten lines a second of each kind, for as long as a test may take.
MOST_LOG = 200_000
# Of its own gRPC takes the path of a Unix socket, which is no name of a host.
AUTHORITY = [("grpc.default_authority", "localhost")]

pytestmark = pytest.mark.usefixtures("enough_descriptors")


@contextlib.contextmanager
def served(folder: Path, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """A switch with few descriptors; its log is `switch.log`."""
    with (folder / "switch.log").open("wb") as log:
        switch = subprocess.Popen(limited(DESCRIPTORS, SWITCH, *options), stderr=log)
    try:
        yield switch
    finally:
        switch.kill()
        switch.wait()


def version(address: str) -> str:
    """The version of P4Runtime that a switch speaks."""
    with grpc.insecure_channel(address, AUTHORITY) as channel:
        capabilities = channel.unary_unary(
            "/p4.v1.P4Runtime/Capabilities",
            request_serializer=p4r.CapabilitiesRequest.SerializeToString,
            response_deserializer=p4r.CapabilitiesResponse.FromString,
        )
        answer: p4r.CapabilitiesResponse = capabilities(
            p4r.CapabilitiesRequest(), timeout=PATIENCE, wait_for_ready=True
        )
        return answer.p4runtime_api_version


@pytest.mark.parametrize("kind", ["unix", "tcp"])
def test_the_switch_answers_among_silent_connections_and_ends_when_it_is_asked(kind: str, tmp_path: Path) -> None:
    address = f"unix:{tmp_path}/p4runtime" if kind == "unix" else f"127.0.0.1:{free_port()}"
    metrics = f"unix:{tmp_path}/metrics"
    options = ("--grpc-server-addr", address, "--metrics-addr", metrics, "--admin", str(tmp_path / "admin"))
    with served(tmp_path, *options) as switch:
        assert version(address) == "1.5.0"
        with silent(address), silent(metrics), silent(f"unix:{tmp_path}/admin"):
            assert version(address) == "1.5.0"
            for socket_name in ("metrics", "admin"):
                transport = httpx.HTTPTransport(uds=f"{tmp_path}/{socket_name}")
                with httpx.Client(transport=transport, base_url="http://switch", timeout=PATIENCE) as client:
                    assert "wayname_switch_clones_total" in client.get("/metrics").text
            assert descriptors_of(switch) < DESCRIPTORS
            switch.send_signal(signal.SIGTERM)
            assert switch.wait(PATIENCE) == 0
    assert (tmp_path / "switch.log").stat().st_size < MOST_LOG
    assert not [path for path in tmp_path.iterdir() if path.is_socket()]


def test_the_switch_ends_though_a_stream_is_open(tmp_path: Path) -> None:
    address = f"unix:{tmp_path}/p4runtime"
    with (
        served(tmp_path, "--grpc-server-addr", address) as switch,
        grpc.insecure_channel(address, AUTHORITY) as channel,
    ):
        stream = channel.stream_stream(
            "/p4.v1.P4Runtime/StreamChannel",
            request_serializer=p4r.StreamMessageRequest.SerializeToString,
            response_deserializer=p4r.StreamMessageResponse.FromString,
        )
        bid = p4r.StreamMessageRequest(
            arbitration=p4r.MasterArbitrationUpdate(device_id=1, election_id=p4r.Uint128(low=1))
        )
        answers = stream(iter([bid]), timeout=PATIENCE, wait_for_ready=True)
        assert next(answers).arbitration.status.code == 0
        switch.send_signal(signal.SIGTERM)
        assert switch.wait(PATIENCE) == 0


@pytest.mark.parametrize("options", [(), ("--grpc-server-ssl", "--grpc-server-cert", "c", "--grpc-server-key", "k")])
def test_a_switch_that_other_machines_reach_wants_to_know_who_calls(options: tuple[str, ...]) -> None:
    command = [str(SWITCH), "--grpc-server-addr", "0.0.0.0:0", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 1
    assert "--grpc-server-addr 0.0.0.0:0 is reached from other machines" in done.stderr
    assert "--grpc-server-with-client-auth" in done.stderr


def test_too_few_descriptors_are_one_line(tmp_path: Path) -> None:
    command = limited(DESCRIPTORS - 1, SWITCH, "--grpc-server-addr", f"unix:{tmp_path}/p4runtime")
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 1
    assert "may have 63 files and sockets open, and the switch needs 64" in done.stderr


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """A frame of HTTP/2 (RFC 9113, 4.1)."""
    return len(payload).to_bytes(3) + bytes([kind, flags]) + stream.to_bytes(4) + payload


def test_who_asks_and_takes_back_again_and_again_is_cut_off(tmp_path: Path) -> None:
    path = b"/p4.v1.P4Runtime/Capabilities"
    # Literals without indexing, and the static table's POST and http (RFC 7541).
    headers = b"\x83\x86\x04" + bytes([len(path)]) + path + b"\x01\x01a"
    asked_and_taken_back = b"".join(
        frame(1, 4, stream, headers) + frame(3, 0, stream, (8).to_bytes(4)) for stream in range(1, 4001, 2)
    )
    path_of_switch = tmp_path / "p4runtime"
    with served(tmp_path, "--grpc-server-addr", f"unix:{path_of_switch}") as switch:
        assert version(f"unix:{path_of_switch}") == "1.5.0"
        with socket.socket(socket.AF_UNIX) as peer:
            peer.settimeout(PATIENCE)
            peer.connect(str(path_of_switch))
            # It may be cut off before all of it is sent.
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                peer.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0) + asked_and_taken_back)
            heard = b""
            with contextlib.suppress(ConnectionResetError):
                while octets := peer.recv(65536):
                    heard += octets
        # GOAWAY, ENHANCE_YOUR_CALM (RFC 9113, 7).
        assert b"\x07\x00\x00\x00\x00\x00" in heard
        assert (11).to_bytes(4) in heard
        assert version(f"unix:{path_of_switch}") == "1.5.0"
        assert switch.poll() is None
