"""The controller against the real switch program, over gRPC and wires."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path

import finsy as fy
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from finsy.proto import p4r
from repository import REPOSITORY
from two_networks import TWO_NETWORKS
from wire_host import WireHost

from wayname.adapter import Controller, SwitchError
from wayname.adapter.connection import Connection
from wayname.composition.configuration import parse_config
from wayname.edge.boundary import PacketOut, UnforkSession, UpdateKind, Write
from wayname.edge.desired_state import key_of, value_of
from wayname.p4_constants import PacketOutKind
from wayname.pipeline.entries import everything, flood_group, port

SWITCH = REPOSITORY / "switch" / "target" / "release" / "wayname-switch"

SWITCH_TABLE = """
[switch]
address = "127.0.0.1:{port}"
device_id = {device}
"""


def configuration(port: int, device: int = 1) -> str:
    return SWITCH_TABLE.format(port=port, device=device) + TWO_NETWORKS


class SwitchProcess:
    """A switch with two wires, at an address that stays the same when it starts anew."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, *arguments: str) -> None:
        """Start it, with a program or without."""
        wires = [part for n in (1, 2) for part in ("-i", f"{n}@wire:{self._folder}/{n}")]
        address = f"127.0.0.1:{self.port}"
        # Its device id and CPU port are the ones that the controller takes by default.
        command = [str(SWITCH), "--grpc-server-addr", address, *wires]
        self._process = subprocess.Popen([*command, *arguments], stderr=subprocess.DEVNULL)

    def hand_over(self) -> int:
        """Have it start the next one, which goes on in its place; return that one's process id."""
        assert self._process is not None
        process, found = self._process, set[int]()
        process.send_signal(signal.SIGHUP)
        # Until it ends, and the next one is nobody's child: it is reaped last.
        while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            for thread in Path(f"/proc/{process.pid}/task").glob("*/children"):
                with contextlib.suppress(OSError):
                    found.update(map(int, thread.read_text().split()))
            time.sleep(0.005)
        assert process.wait() == 0
        return found.pop()

    def kill(self) -> None:
        """End it without a warning."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()


@pytest.fixture
def switch(tmp_path: Path) -> Iterator[SwitchProcess]:
    process = SwitchProcess(tmp_path)
    yield process
    process.kill()


def controller_of(switch: SwitchProcess, device: int = 1, replace: bool = False) -> Controller:
    config = parse_config(configuration(switch.port, device))
    return Controller(config, replace_pipeline=replace)


@contextlib.asynccontextmanager
async def running(controller: Controller) -> AsyncIterator[Controller]:
    task = asyncio.create_task(controller.run())
    try:
        yield controller
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


@contextlib.asynccontextmanager
async def hosts(folder: Path) -> AsyncIterator[tuple[WireHost, WireHost]]:
    one = WireHost(folder / "1", "02:00:00:00:00:01", "2001:db8:1::11", "02:00:00:00:00:0a")
    two = WireHost(folder / "2", "02:00:00:00:00:02", "2001:db8:2::22", "02:00:00:00:00:14")
    tasks = [asyncio.create_task(host.run()) for host in (one, two)]
    try:
        yield one, two
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def event(controller: Controller, kind: str, after: int = 0) -> str:
    """Wait for an event of a kind; return its text."""
    while True:
        for recorded in controller.events.since(after):
            if recorded.event.kind == kind:
                return recorded.event.text
        after = controller.events.last
        await controller.events.wait(after)


async def tables(controller: Controller) -> dict[object, object]:
    return {key_of(each): value_of(each) for each in await controller.read(everything())}


async def learned(controller: Controller, *found: WireHost) -> dict[object, object]:
    """Return the tables when they have each host's MAC address, which a digest brings after the host's first packet."""
    macs = {host.mac.value for host in found}
    while True:
        entities = await controller.read(everything())
        entries = [each for each in entities if isinstance(each, fy.P4TableEntry)]
        sources = {each["source"] for each in entries if each.table_id == "learned_macs"}
        destinations = {each["destination"] for each in entries if each.table_id == "fdb"}
        if macs <= sources & destinations:
            return {key_of(each): value_of(each) for each in entities}
        await asyncio.sleep(0.01)


async def test_controller_killed_and_started_anew(switch: SwitchProcess, tmp_path: Path) -> None:
    async with asyncio.timeout(60), hosts(tmp_path) as (one, two):
        switch.start()
        async with running(controller_of(switch)) as controller:
            await event(controller, "switch.up")
            await one.ping(str(two.address))
            await two.ping(str(one.address))
            before = await learned(controller, one, two)
        # Nobody controls the switch, and nothing that is established needs anybody.
        for _ in range(20):
            await one.ping_answered(str(two.address))
        async with running(controller_of(switch)) as controller:
            await event(controller, "switch.up")
            await one.ping_answered(str(two.address))
            assert await tables(controller) == before
            assert controller.writes == 0


async def test_switch_killed_and_started_anew(switch: SwitchProcess, tmp_path: Path) -> None:
    async with asyncio.timeout(60), hosts(tmp_path) as (one, two):
        switch.start()
        async with running(controller_of(switch)) as controller:
            await event(controller, "switch.up")
            await one.ping(str(two.address))
            before = await learned(controller, one, two)
            seen = controller.events.last
            switch.kill()
            await event(controller, "switch.down", seen)
            assert not controller.connected
            switch.start()
            await event(controller, "switch.up", seen)
            await one.ping(str(two.address))
            while True:
                after = await tables(controller)
                if after.keys() == before.keys():
                    break
                await asyncio.sleep(0.01)
            # A switch that starts anew gets new secrets behind its hashes.
            keys = ("hash_keys", ())
            assert after.pop(keys) != before.pop(keys)
            assert after == before


async def test_a_switch_that_hands_over_alarms_nobody(switch: SwitchProcess, tmp_path: Path) -> None:
    async with asyncio.timeout(60), hosts(tmp_path) as (one, two):
        switch.start()
        async with running(controller_of(switch)) as controller:
            await event(controller, "switch.up")
            await one.ping(str(two.address))
            seen = controller.events.last
            successor = await asyncio.to_thread(switch.hand_over)
            try:
                await event(controller, "switch.up", seen)
                await one.ping_answered(str(two.address))
            finally:
                os.kill(successor, signal.SIGKILL)
            said = [each.event for each in controller.events.since(seen)]
            kinds = [each.kind for each in said if each.kind.startswith("switch.")]
            assert kinds[:2] == ["switch.down", "switch.up"]
            down = next(each for each in said if each.kind == "switch.down")
            assert down.text == (
                f"the switch at 127.0.0.1:{switch.port} ended the session, as when it restarts; it is asked again"
            )


async def test_switch_with_a_state_killed_and_started_anew_without_a_controller(
    switch: SwitchProcess, tmp_path: Path
) -> None:
    state = ("--state", str(tmp_path / "state"))
    async with asyncio.timeout(60), hosts(tmp_path) as (one, two):
        switch.start(*state)
        async with running(controller_of(switch)) as controller:
            await event(controller, "switch.up")
            await one.ping(str(two.address))
            await two.ping(str(one.address))
            before = await learned(controller, one, two)
        switch.kill()
        switch.start(*state)
        # Hosts connect to their wires again; then nothing that was established needs anybody.
        await one.ping(str(two.address))
        for _ in range(20):
            await one.ping_answered(str(two.address))
        async with running(controller_of(switch)) as controller:
            await event(controller, "switch.up")
            assert await tables(controller) == before
            assert controller.writes == 0


async def test_waits_for_a_switch_that_is_not_there(switch: SwitchProcess) -> None:
    async with asyncio.timeout(20), running(controller_of(switch)) as controller:
        said = await event(controller, "switch.down")
        assert said == f"no switch answers at 127.0.0.1:{switch.port}; start it, or set switch.address"
        with pytest.raises(SwitchError, match="is not connected"):
            await controller.read(everything())
        switch.start()
        await event(controller, "switch.up")
        # It was said once, however often it was tried.
        assert [each.event.kind for each in controller.events.since(0)].count("switch.down") == 1


async def test_what_the_switch_refuses_on_the_stream_is_told_once_and_ends_nothing(switch: SwitchProcess) -> None:
    switch.start()
    async with asyncio.timeout(20), running(controller_of(switch)) as controller:
        await event(controller, "switch.up")
        connection = controller._writer.connection
        assert connection is not None
        nobody_knows = p4r.StreamMessageRequest(digest_ack=p4r.DigestListAck(digest_id=1, list_id=1))
        no_fields = p4r.StreamMessageRequest(packet=p4r.PacketOut(payload=b"no fields"))
        for message in (nobody_knows, nobody_knows, nobody_knows, no_fields):
            await connection._send(message)
        while (
            len(told := [each.event for each in controller.events.since(0) if each.event.kind == "switch.refuses"]) < 2
        ):
            await controller.events.wait(controller.events.last)
        assert [each.details for each in told] == [{"message": "digest_list_ack"}, {"message": "packet_out"}]
        # Each message has been answered by now, in its order.
        assert [("packet_out" in each.text, "--cpu-port 510" in each.text) for each in told] == [
            (False, False),
            (True, True),
        ]
        assert controller.sessions == 1


async def test_wrong_device(switch: SwitchProcess) -> None:
    switch.start()
    async with asyncio.timeout(20):
        with pytest.raises(SwitchError, match=r"has no device 7 .*; set switch.device_id to its --device-id"):
            await controller_of(switch, device=7).run()


async def test_wrong_pipeline(switch: SwitchProcess, tmp_path: Path) -> None:
    other = tmp_path / "other.p4"
    other.write_text(OTHER)
    switch.start(str(other))
    async with asyncio.timeout(20):
        with pytest.raises(SwitchError) as refused:
            await controller_of(switch).run()
        assert str(refused.value) == (
            f"the switch at 127.0.0.1:{switch.port} runs the program other 1; "
            "`wayname up --replace-pipeline` replaces it"
        )
        async with running(controller_of(switch, replace=True)) as controller:
            assert await event(controller, "pipeline.set") == "set the program wayname 0.1.0"
            await event(controller, "switch.up")


async def test_second_controller(switch: SwitchProcess) -> None:
    switch.start()
    async with asyncio.timeout(20), running(controller_of(switch)) as first:
        await event(first, "switch.up")
        async with running(controller_of(switch)) as second:
            said = await event(second, "switch.down")
            assert said == f"another controller has the switch at 127.0.0.1:{switch.port}; stop it first"
        assert first.connected


async def test_tls(switch: SwitchProcess, tmp_path: Path) -> None:
    certificate, key = self_signed(tmp_path)
    switch.start("--grpc-server-ssl", "--grpc-server-cert", str(certificate), "--grpc-server-key", str(key))
    plain = configuration(switch.port)
    secured = plain.replace("[[port]]", f'ca = "{certificate}"\n[[port]]', 1)
    async with asyncio.timeout(20):
        async with running(Controller(parse_config(secured))) as controller:
            await event(controller, "switch.up")
        async with running(Controller(parse_config(plain))) as controller:
            await event(controller, "switch.down")
            assert not controller.connected
        missing = secured.replace(str(certificate), str(tmp_path / "none.pem"))
        with pytest.raises(SwitchError, match=r"none.pem: cannot be read \(No such file or directory\)"):
            await Controller(parse_config(missing)).run()


@pytest.mark.parametrize(
    ("certificate", "key", "says"),
    [
        ("switch.key", "switch.key", "switch.key: has no certificate in PEM"),
        ("switch.pem", "switch.pem", "switch.pem: has no private key without a password in PEM"),
        ("switch.pem", "other.key", "other.key: is not the key of .*switch.pem"),
    ],
)
async def test_files_that_no_session_can_be_secured_with(tmp_path: Path, certificate: str, key: str, says: str) -> None:
    _, other = self_signed(tmp_path)
    other.rename(tmp_path / "other.key")
    ca, _ = self_signed(tmp_path)
    tls = f'switch = {{ca = "{ca}", certificate = "{certificate}", key = "{key}"}}'
    with pytest.raises(SwitchError, match=says):
        await Controller(parse_config(tls, "edge.toml", tmp_path)).run()


def self_signed(folder: Path) -> tuple[Path, Path]:
    """Write a certificate for the loopback address and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "switch")])
    address = x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(address, critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    plain = serialization.NoEncryption()
    (folder / "switch.pem").write_bytes(certificate.public_bytes(pem))
    (folder / "switch.key").write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain))
    (folder / "switch.key").chmod(0o600)
    return folder / "switch.pem", folder / "switch.key"


OTHER = """
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> x; }
struct headers_t { h_t h; }
struct meta_t { }
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start { transition accept; }
}
control V(inout headers_t hdr, inout meta_t meta) { apply { } }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    action forward(bit<9> port) { standard.egress_spec = port; }
    table t { key = { standard.ingress_port : exact; } actions = { forward; } }
    apply { t.apply(); }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.h); } }
@pkginfo(name = "other", version = "1")
V1Switch(P(), V(), I(), E(), V(), D()) main;
"""


async def test_what_is_asked_of_a_session_that_has_ended_is_refused() -> None:
    # A switch that is killed ends it while answers to what it said before are still to be sent.
    controller = Controller(parse_config(configuration(1)))
    connection = Connection(controller.config.switch, controller.schema)
    await connection.close()
    for asked in (
        connection.send(PacketOut(b"", PacketOutKind.FLOOD, vlan=10)),
        connection.write(Write([(UpdateKind.INSERT, port(1, 10))])),
        connection.read(everything()),
    ):
        with pytest.raises(SwitchError, match="has ended"):
            await asked


async def test_who_waits_for_a_session_that_ends_is_told(tmp_path: Path) -> None:
    # So is a switch that is killed: the stream is begun again, and nothing answers any more.
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(tmp_path / "switch"))
        silent.listen()
        controller = Controller(
            parse_config(f'[switch]\naddress = "unix:{tmp_path}/switch"\n[[port]]\nnumber = 1\nvlan = 10\n')
        )
        connection = Connection(controller.config.switch, controller.schema)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await connection.open()
        sending = asyncio.create_task(connection.send(PacketOut(b"", PacketOutKind.FLOOD, vlan=10)))
        for _ in range(100):
            await asyncio.sleep(0)
        assert not sending.done()
        await connection.close()
        with pytest.raises(SwitchError, match="has ended"):
            async with asyncio.timeout(30):
                await sending


@pytest.mark.contains_faults
async def test_what_cannot_be_encoded_keeps_nothing_else_from_the_switch(switch: SwitchProcess) -> None:
    switch.start()
    controller = controller_of(switch)
    async with asyncio.timeout(60), running(controller):
        await event(controller, "switch.up")
        # A VLAN has twelve bits, and a port of the switch nine.
        controller.edge._outputs.desired.put(port(3, 1 << 20))
        controller.edge._outputs.desired.put(port(4, 10))
        controller.edge._outputs.packet(PacketOut(b"", PacketOutKind.SEND, port=1 << 20))
        controller.edge._outputs.desired.put(port(5, 10))
        await controller.command(UnforkSession(0))
        assert "it cannot be encoded" in await event(controller, "write.failed")
        await event(controller, "edge.fault")
        known = {key_of(entity) for entity in await controller.read(everything())}
    assert controller.edge.faults.counts == {"output PacketOut": 1}
    assert {key_of(port(4, 10)), key_of(port(5, 10))} <= known
    assert controller.sessions == 1


async def test_a_port_that_the_switch_lacks_keeps_no_other_from_being_flooded_to(
    switch: SwitchProcess, tmp_path: Path
) -> None:
    lacking = "[[port]]\nnumber = 3\nvlan = 10\n[[port]]\nnumber = 4\nvlan = 10\n"
    controller = Controller(parse_config(configuration(switch.port) + lacking))
    async with asyncio.timeout(60), hosts(tmp_path) as (one, two):
        switch.start()
        async with running(controller):
            told = await event(controller, "write.failed")
            assert "the switch has no port 3, 4" in told
            # Neighbours are asked by flooding.
            await one.ping(str(two.address))
            [group] = await controller.read([flood_group(10, ())])
            assert value_of(group) == ("1",)
