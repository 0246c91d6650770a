"""The command line of `ptf-tests/run`: choose a target, start ptf."""

import argparse
import contextlib
import math
import re
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from harness import runner, switches
from harness.commands import NotHereError, NotStartedError
from harness.deviations import DeviationsError, check_deviations, read_deviations
from harness.ports import PortsError, check_ports, read_ports
from harness.runner import UnknownTestError
from harness.switches import P4INFO, Running
from harness.target import DEVICE_ID, PATIENCE

INTERRUPTED = 130

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
    of_target = [
        parser.add_argument("--ports", type=Path, metavar="FILE", help="what stands behind the ports of --target"),
        parser.add_argument("--device-id", type=int, metavar="NUMBER", help=f"of --target ({DEVICE_ID})"),
        parser.add_argument("--p4info", type=Path, metavar="FILE", help="of --target's program (the repository's)"),
        parser.add_argument("--config", type=Path, metavar="FILE", help="device config for --target (the P4 text)"),
        parser.add_argument("--deviations", type=Path, metavar="FILE", help="what --target is known to fail, and why"),
        parser.add_argument(
            "--patience", type=float, metavar="SECONDS", help=f"how long an answer of --target may take ({PATIENCE:g})"
        ),
    ]
    chosen = parser.parse_args()
    if chosen.target is None:
        for option in of_target:
            if getattr(chosen, option.dest) is not None:
                parser.error(f"{option.option_strings[0]} is for --target")
    elif chosen.ports is None:
        parser.error("--target needs --ports")
    elif not re.fullmatch(r".+:\d+", chosen.target):
        parser.error(f"--target {chosen.target}: HOST:PORT")
    if chosen.patience is not None and not 0 < chosen.patience < math.inf:
        parser.error("--patience: a time above 0")
    return chosen


def main() -> int:
    """Run the tests; the exit status says whether all passed."""
    chosen = arguments()
    if chosen.list:
        runner.list_tests()
        return 0
    for end in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(end, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="wayname-ptf-") as name:
        folder = Path(name)
        try:
            if chosen.tests:
                runner.check_tests(chosen.tests, runner.known_tests())
            with running(chosen, folder) as switch:
                return runner.run_tests(chosen.tests, folder, switch)
        except NotHereError as error:
            print(f"run: skipped: {error}")
            return 0
        except (UnknownTestError, PortsError, DeviationsError, NotStartedError) as error:
            print(f"run: {error}", file=sys.stderr)
            return 2
        except KeyboardInterrupt:
            print("run: interrupted", file=sys.stderr)
            return INTERRUPTED


@contextlib.contextmanager
def running(chosen: argparse.Namespace, folder: Path) -> Iterator[Running | None]:
    """The switch that the tests run against; None stands for the one in process."""
    if chosen.target is not None:
        yield given(chosen, folder)
        return
    started = next((start for name, start in STARTED.items() if getattr(chosen, name)), None)
    if started is None:
        switches.check_module()
        yield None
        return
    with started(folder) as switch:
        yield switch


def given(chosen: argparse.Namespace, folder: Path) -> Running:
    """A switch that somebody else started, when everything is there that it needs."""
    ports = read_ports(chosen.ports)
    check_ports(ports)
    p4info, config = chosen.p4info or P4INFO, chosen.config or program_text(folder)
    for file in (p4info, config):
        if not file.is_file():
            raise PortsError(f"{file}: no such file")
    deviations = read_deviations(chosen.deviations) if chosen.deviations else {}
    if deviations:
        check_deviations(chosen.deviations, deviations, runner.known_tests())
    device_id = DEVICE_ID if chosen.device_id is None else chosen.device_id
    patience = PATIENCE if chosen.patience is None else chosen.patience
    return Running(chosen.target, ports, p4info, config, device_id, deviations=deviations, patience=patience)


def program_text(folder: Path) -> Path:
    """The device config of the embedded switch."""
    try:
        return switches.embedded_config(folder)
    except NotHereError as error:
        raise NotStartedError(f"{error}; or give the program with --config and --p4info") from None
