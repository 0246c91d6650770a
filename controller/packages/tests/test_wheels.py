"""The wheels, installed where there is no repository: the edge runs with what they bring."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import sysconfig
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from places import REPOSITORY, Run

PROGRAM = """
#include <core.p4>
#include <v1model.p4>
struct headers_t {} struct metadata_t {}
parser P(packet_in p, out headers_t h, inout metadata_t m, inout standard_metadata_t s) {
    state start { transition accept; }
}
control V(inout headers_t h, inout metadata_t m) { apply {} }
control I(inout headers_t h, inout metadata_t m, inout standard_metadata_t s) {
    apply { s.egress_spec = s.ingress_port; }
}
control E(inout headers_t h, inout metadata_t m, inout standard_metadata_t s) { apply {} }
control C(inout headers_t h, inout metadata_t m) { apply {} }
control D(packet_out p, in headers_t h) { apply {} }
V1Switch(P(), V(), I(), E(), C(), D()) main;
"""


def environment(wheel: Path, folder: Path, run: Run) -> Path:
    """Make an environment that has the wheel alone; return the folder of its programs."""
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    python = folder / "bin" / "python"
    options = ("--quiet", "--no-deps", "--no-index", "--find-links", wheel.parent)
    run(sys.executable, "-m", "pip", "--python", python, "install", *options, wheel.name.split("-")[0])
    return python.parent


@pytest.fixture(scope="module")
def installed(wheels: dict[str, Path], run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment with the whole, and the packages of this one but not the repository."""
    folder = tmp_path_factory.mktemp("installed")
    programs = environment(wheels["wayname"], folder, run)
    [packages] = folder.glob("lib/*/site-packages")
    theirs = Path(sysconfig.get_path("purelib"))
    for each in theirs.iterdir():
        # Only what others made: ours has to come of the wheel.
        if not each.name.startswith(("wayname", "__editable__", "_virtualenv")) and not (packages / each.name).exists():
            (packages / each.name).symlink_to(each)
    return programs


@pytest.fixture(scope="module")
def switch_alone(wheels: dict[str, Path], run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment with the switch alone."""
    return environment(wheels["wayname_switch"], tmp_path_factory.mktemp("switch"), run)


def test_the_whole_has_pipeline_labs_modules_and_programs_and_no_tests(wheels: dict[str, Path]) -> None:
    names = set(zipfile.ZipFile(wheels["wayname"]).namelist())
    sources = {str(path.relative_to(REPOSITORY)) for path in (REPOSITORY / "p4src").rglob("*.p4")}
    labs = {f"wayname_lab/labs/{path.name}" for path in (REPOSITORY / "topo" / "labs").glob("*.toml")}
    native = {f"{name}.abi3.so" for name in ("wayname_switch", "wayname_host", "wayname_cga")}
    assert sources and labs
    assert {f"wayname/{path}" for path in sources} | labs | native | {"wayname/p4src/wayname.p4info.txtpb"} <= names
    assert {Path(name).name for name in names if ".data/scripts/" in name} == {"wayname-switch", "wayname-host"}
    assert not [name for name in names if "tests" in Path(name).parts]


def test_the_names_of_wheels_say_what_they_run_with(wheels: dict[str, Path]) -> None:
    for wheel in wheels.values():
        assert "-cp311-abi3-manylinux_2_" in wheel.name
        about = next(name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".dist-info/WHEEL"))
        assert f"Tag: {wheel.stem.split('-', 2)[2]}\n" in zipfile.ZipFile(wheel).read(about).decode()


def test_an_installed_package_loads_its_own_pipeline(installed: Path, run: Run) -> None:
    load = "from wayname.config.model import SwitchConfig; from wayname.pipeline.program import PROGRAM, load_program;"
    show = "print(PROGRAM, len(list(load_program(SwitchConfig()).tables)))"
    program, tables = run(installed / "python", "-c", load + show, folder=installed).split()
    assert Path(program).is_relative_to(installed.parent)
    assert int(tables) > 0


def test_an_installed_command_starts_and_knows_its_labs(installed: Path, run: Run) -> None:
    assert "--config" in run(installed / "wayname", "up", "--help", folder=installed)
    assert "two-sites" in run(installed / "wayname", "lab", "list", folder=installed)


def test_packets_pass_the_switch_that_is_installed_alone(switch_alone: Path, run: Run, tmp_path: Path) -> None:
    (tmp_path / "echo.p4").write_text(PROGRAM)
    steps = run(switch_alone / "wayname-switch", "trace", "echo.p4", "--packet", "c0ffee", "--json", folder=tmp_path)
    assert [json.loads(line) for line in steps.splitlines()]
    inject = (
        "import wayname_switch as s; w = s.Switch(s.device_config('echo.p4'));"
        "print([(o.port, o.packet.hex()) for o in w.inject(3, bytes.fromhex('c0ffee'), now=1)])"
    )
    assert run(switch_alone / "python", "-c", inject, folder=tmp_path) == "[(3, 'c0ffee')]\n"


@pytest.fixture
def edge(installed: Path, tmp_path: Path) -> Iterator[Path]:
    """A switch and a controller of the installed package, on wires; the folder has their sockets."""
    (tmp_path / "edge.toml").write_text(
        f'[switch]\naddress = "unix:{tmp_path}/p4runtime"\n[api]\nsocket = "unix:{tmp_path}/api"\n'
        "[[port]]\nnumber = 1\nvlan = 10\n[[port]]\nnumber = 2\nvlan = 10\n[[interface]]\nvlan = 10\n"
    )
    wires = [word for number in (1, 2) for word in ("-i", f"{number}@wire:{tmp_path}/{number}")]
    switch: list[str | Path] = [
        installed / "wayname-switch",
        "--grpc-server-addr",
        f"unix:{tmp_path}/p4runtime",
        *wires,
    ]
    ours = ["--device-id", "1", "--cpu-port", "510"]
    controller: list[str | Path] = [installed / "wayname", "up", "--config", tmp_path / "edge.toml"]
    with (tmp_path / "log").open("wb") as log:
        processes = [subprocess.Popen(each, stderr=log, cwd=installed) for each in ([*switch, *ours], controller)]
    yield tmp_path
    for process in processes:
        process.kill()
        process.wait()


def test_an_installed_edge_forwards(edge: Path, installed: Path, run: Run) -> None:
    one, two = (socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(2))
    end = time.monotonic() + 120
    for number, wire in ((1, one), (2, two)):
        while not (edge / str(number)).exists():
            assert time.monotonic() < end, (edge / "log").read_text()
            time.sleep(0.05)
        wire.connect(str(edge / str(number)))
    asks = [str(installed / "wayname"), "--api", f"unix:{edge}/api", "status"]
    while subprocess.run(asks, capture_output=True, check=False).returncode:
        assert time.monotonic() < end, (edge / "log").read_text()
        time.sleep(0.2)
    # A frame to all stations of the VLAN; it is sent until the entries are written.
    frame = bytes.fromhex("ffffffffffff 020000000001 88b5") + b"wayname".ljust(50, b"\0")
    two.settimeout(0.2)
    arrived = b""
    while arrived != frame:
        assert time.monotonic() < end, (edge / "log").read_text()
        one.send(frame)
        try:
            arrived = two.recv(2048)
        except TimeoutError:
            continue
