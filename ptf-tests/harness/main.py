"""The command line of `ptf-tests/run`: choose a target, start ptf."""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from harness import switches
from harness.deviations import DeviationsError, read_deviations
from harness.ports import PortsError, check_ports, read_ports
from harness.switches import MAIN, P4INFO, NotHereError, NotStartedError, Running
from harness.target import DEVICE_ID

HERE = Path(__file__).resolve().parent.parent
# How long what must come may take; nothing waits that long unless a test fails. In process, all is there at once.
PATIENCE = "2"

STARTED: dict[str, Callable[[Path], AbstractContextManager[Running]]] = {
    "wires": switches.wires,
    "veth": switches.veth,
    "bmv2": switches.bmv2,
}


def arguments() -> argparse.Namespace:
    """The options; without any, the embedded switch runs in this process."""
    parser = argparse.ArgumentParser(
        prog="run",
        description="Run the PTF tests against a P4Runtime target; without options, the embedded switch in process.",
        epilog='FILE of --ports has a line for each port: 1 = "eth1", or 1 = "wire:PATH". See docs/ptf.md.',
    )
    parser.add_argument("tests", nargs="*", help="tests (bridging.KnownStation) or groups (bridging); all if left out")
    parser.add_argument("--list", action="store_true", help="list the tests and end")
    target = parser.add_mutually_exclusive_group()
    target.add_argument("--target", metavar="HOST:PORT", help="a P4Runtime server; its program is replaced")
    target.add_argument("--wires", action="store_true", help="start the embedded switch on wires")
    target.add_argument("--veth", action="store_true", help="start the embedded switch on veth pairs (root)")
    target.add_argument("--bmv2", action="store_true", help="start simple_switch_grpc on veth pairs (root)")
    parser.add_argument("--ports", type=Path, metavar="FILE", help="what stands behind the ports of --target")
    parser.add_argument("--device-id", type=int, default=DEVICE_ID, help="of --target (%(default)s)")
    parser.add_argument("--p4info", type=Path, default=P4INFO, help="of the program for --target (the repository's)")
    parser.add_argument("--config", type=Path, help="device config for --target (the program as text)")
    parser.add_argument("--deviations", type=Path, metavar="FILE", help="tests that --target is known to fail, and why")
    chosen = parser.parse_args()
    if (chosen.target is None) != (chosen.ports is None):
        parser.error("--target and --ports belong together")
    return chosen


def main() -> int:
    """Run the tests; the exit status says whether all passed."""
    chosen = arguments()
    started = next((start for name, start in STARTED.items() if getattr(chosen, name)), None)
    with tempfile.TemporaryDirectory(prefix="wayname-ptf-") as name:
        folder = Path(name)
        try:
            if chosen.target is not None:
                ports = read_ports(chosen.ports)
                check_ports(ports)
                config = chosen.config or switches.embedded_config(folder)
                for file in (chosen.p4info, config, *([chosen.deviations] if chosen.deviations else [])):
                    if not file.is_file():
                        raise PortsError(f"{file}: no such file")
                given = Running(chosen.target, ports, chosen.p4info, config, deviations=chosen.deviations)
                return ptf(chosen, folder, given)
            with started(folder) if started else contextlib.nullcontext() as running:
                return ptf(chosen, folder, running)
        except NotHereError as error:
            print(f"run: skipped: {error}")
            return 0
        except (PortsError, DeviationsError, NotStartedError) as error:
            print(f"run: {error}", file=sys.stderr)
            return 2
        except KeyboardInterrupt:
            return 130


def ptf(chosen: argparse.Namespace, folder: Path, running: Running | None) -> int:
    """Run ptf itself."""
    described: dict[str, object] = {"target": None, "program": str(MAIN)}
    if running:
        described = {
            "target": running.address,
            "ports": running.ports,
            "device_id": chosen.device_id,
            "p4info": str(running.p4info),
            "config": str(running.config),
            "deviations": read_deviations(running.deviations) if running.deviations else {},
        }
    words = [
        *(running.prefix if running else []),
        *(
            sys.executable,
            str(Path(sys.executable).with_name("ptf")),
            "--test-dir",
            str(HERE / "suites"),
            "--allow-user",
        ),
        *("--platform", "wayname", "--platform-dir", str(HERE / "platforms"), "--platform-args", json.dumps(described)),
        *("--default-timeout", PATIENCE if running else "0", "--default-negative-timeout", "0"),
        *("--qlen", "1000", "--socket-recv-size", "65536", "--random-seed", "1"),
        *("--log-file", str(folder / "ptf.log"), "--quiet", "--disable-vxlan", "--disable-geneve", "--disable-erspan"),
        *(["--list"] if chosen.list else []),
        *chosen.tests,
    ]
    path = os.pathsep.join([str(HERE), str(HERE.parent / "p4src" / "tests")])
    return subprocess.run(words, env=os.environ | {"PYTHONPATH": path}, check=False).returncode
