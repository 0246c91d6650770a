"""Switches that `run` starts and ends itself."""

import contextlib
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from harness.commands import NotHereError, NotStartedError, command, wait_until
from harness.deviations import read_deviations
from harness.namespaces import Nodes
from harness.target import DEVICE_ID, PATIENCE
from small_site import CPU, PORTS

# It takes a minute of processor time, and longer on a busy machine.
P4C_PATIENCE = 900.0
ROOT = Path(__file__).resolve().parent.parent.parent
MAIN = ROOT / "p4src" / "v1model" / "main.p4"
P4INFO = ROOT / "p4src" / "wayname.p4info.txtpb"
BMV2_DEVIATIONS = ROOT / "ptf-tests" / "deviations" / "bmv2.toml"
SWITCH = ROOT / "switch" / "target" / "release" / "wayname-switch"
STARTS_WITHIN = 20.0


@dataclass(frozen=True, slots=True)
class Running:
    """A switch, and how to reach it."""

    address: str
    ports: dict[int, str]
    p4info: Path
    config: Path
    device_id: int = DEVICE_ID
    # Before every command that shall see its ports.
    prefix: list[str] = field(default_factory=list)
    patience: float = PATIENCE
    # Which tests it is known to fail, and why.
    deviations: dict[str, str] = field(default_factory=dict)


def check_module() -> None:
    """Refuse to run in process where the embedded switch is no module of Python."""
    if importlib.util.find_spec("wayname_switch") is None:
        raise NotHereError("the embedded switch is no module of this Python; `make venv-switch` makes it one")


@contextlib.contextmanager
def wires(folder: Path) -> Iterator[Running]:
    """The embedded switch on wires; needs no root."""
    ports = {port: f"wire:{folder / str(port)}" for port in PORTS}
    address = f"127.0.0.1:{free_port()}"
    with process(embedded(address, ports), folder, address):
        yield Running(address, ports, P4INFO, embedded_config(folder))


@contextlib.contextmanager
def veth(folder: Path) -> Iterator[Running]:
    """The embedded switch on veth pairs in a network namespace of its own."""
    config = embedded_config(folder)
    with veth_pairs() as prefix:
        address = "127.0.0.1:9559"
        behind = {port: f"switch{port}" for port in PORTS}
        with process([*prefix, *embedded(address, behind)], folder, address, prefix):
            yield Running(address, {port: f"test{port}" for port in PORTS}, P4INFO, config, prefix=prefix)


@contextlib.contextmanager
def bmv2(folder: Path) -> Iterator[Running]:
    """BMv2 on veth pairs in a network namespace of its own, with what p4c makes of the program."""
    for tool in ("simple_switch_grpc", "p4c-bm2-ss"):
        if shutil.which(tool) is None:
            raise NotHereError(f"{tool} is not on the PATH")
    config, p4info = folder / "program.json", folder / "program.p4info.txtpb"
    with veth_pairs() as prefix:
        compiled = ["--p4runtime-files", str(p4info), "-o", str(config), str(MAIN)]
        command(["p4c-bm2-ss", *compiled], patience=P4C_PATIENCE)
        address = "127.0.0.1:9559"
        switch = ["simple_switch_grpc", "--no-p4", "--device-id", str(DEVICE_ID), "-L", "warn"]
        for port in PORTS:
            switch += ["-i", f"{port}@switch{port}"]
        switch += ["--", "--grpc-server-addr", address, "--cpu-port", str(CPU)]
        with process([*prefix, *switch], folder, address, prefix):
            ports = {port: f"test{port}" for port in PORTS}
            yield Running(address, ports, p4info, config, prefix=prefix, deviations=read_deviations(BMV2_DEVIATIONS))


def embedded(address: str, ports: dict[int, str]) -> list[str]:
    """The command that starts the embedded switch."""
    interfaces = [word for port, device in ports.items() for word in ("-i", f"{port}@{device}")]
    options = ["--grpc-server-addr", address, "--cpu-port", str(CPU), "--device-id", str(DEVICE_ID)]
    return [built_switch(), *options, *interfaces]


def built_switch() -> str:
    """The program of the embedded switch."""
    if not SWITCH.exists():
        raise NotHereError(f"{SWITCH.relative_to(ROOT)} is not built; `make switch` builds it")
    return str(SWITCH)


def embedded_config(folder: Path) -> Path:
    """The program as the embedded switch takes it: one text."""
    config = folder / "program.txt"
    command([built_switch(), "compile", str(MAIN), "--config", str(config)])
    return config


@contextlib.contextmanager
def veth_pairs() -> Iterator[list[str]]:
    """A network namespace with a veth pair for each port; the words that run a command in it."""
    with Nodes("ptf") as nodes:
        nodes.add("switch", is_switch=True)
        for port in PORTS:
            nodes.join("switch", f"switch{port}", "switch", f"test{port}")
            for end in ("switch", "test"):
                nodes.ip("switch", f"link set {end}{port} mtu 9000")
        yield nodes.inside("switch")


@contextlib.contextmanager
def process(
    words: list[str], folder: Path, address: str, prefix: list[str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """A switch that runs until the block ends."""
    log = folder / "switch.log"
    with log.open("wb") as output:
        # A session of its own: Ctrl-C ends the tests first, and these leave nothing behind.
        switch = subprocess.Popen(words, stdout=output, stderr=output, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        wait_for(switch, words, address, log, prefix or [])
        yield switch
    finally:
        switch.send_signal(signal.SIGINT)
        try:
            switch.wait(5)
        except subprocess.TimeoutExpired:
            switch.kill()
            switch.wait()


def wait_for(switch: subprocess.Popen[bytes], words: list[str], address: str, log: Path, prefix: list[str]) -> None:
    """Return when the switch answers at its address."""
    host, port = address.split(":")
    probe = [*prefix, "bash", "-c", f"exec 3<>/dev/tcp/{host}/{port}"]
    until = time.monotonic() + STARTS_WITHIN
    while subprocess.run(probe, capture_output=True, check=False).returncode != 0:
        if switch.poll() is not None:
            last = (log.read_text(errors="replace").strip().splitlines() or ["it said nothing"])[-1]
            raise NotStartedError(f"{Path(words[len(prefix)]).name} ended at once: {last}")
        if time.monotonic() > until:
            raise NotStartedError(f"nothing answers at {address} within {STARTS_WITHIN:.0f} s; see {log}")
        time.sleep(0.05)


def free_port() -> int:
    """A TCP port that nobody uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def hot_restart(switch: subprocess.Popen[bytes] | int) -> int:
    """Have a switch start the next one; the process of that once it forwards. Whoever asked has to end it."""
    pid = switch if isinstance(switch, int) else switch.pid
    found: set[int] = set()

    def has_ended() -> bool:
        if isinstance(switch, subprocess.Popen) and switch.poll() is not None:
            return True
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        for thread in Path(f"/proc/{pid}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                found.update(int(child) for child in thread.read_text().split())
        return state == "Z"

    os.kill(pid, signal.SIGHUP)
    wait_until(has_ended, f"a hot restart of process {pid}", pause=0.005)
    if not found:
        raise NotStartedError(f"switch {pid} ended without another one")
    return found.pop()
