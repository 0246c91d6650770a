"""Runs ptf itself, in a process of its own: some of the tests or all, to their end or until somebody interrupts."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from harness.switches import MAIN, ROOT, Running

HERE = Path(__file__).resolve().parent.parent
# How long the test that runs may take to its end when somebody interrupts, in seconds.
LAST_TEST = 30.0


class UnknownTestError(Exception):
    """No test and no group is called so; one line for people."""


def list_tests() -> None:
    """Print all tests, with what they show."""
    print(_listed("--list"), end="")


def known_tests() -> list[str]:
    """The names of all tests, each GROUP.TEST."""
    return [line for line in _listed("--list-test-names").splitlines() if "." in line and " " not in line]


def _listed(option: str) -> str:
    """What ptf lists. It removes what stands where its log goes and begins a new file, so that is one of its own."""
    with tempfile.TemporaryDirectory(prefix="wayname-ptf-") as folder:
        command = ptf(option, "--log-file", str(Path(folder) / "ptf.log"))
        return subprocess.run(command, env=environment(), stdout=subprocess.PIPE, text=True, check=True).stdout


def check_tests(wanted: Sequence[str], tests: Sequence[str]) -> None:
    """Refuse what is neither a test nor a group, before a target is started for it."""
    names = {*tests, *(test.partition(".")[0] for test in tests)}
    for name in wanted:
        if name not in names:
            raise UnknownTestError(f"{name}: no test and no group is called so; --list names all")


def run_tests(tests: Sequence[str], folder: Path, running: Running | None) -> int:
    """Run tests; None stands for the switch in process. After an interrupt the test that runs comes to its end."""
    platform, described = ("at_address", described_for_ptf(running)) if running else ("in_process", str(MAIN))
    words = [
        *(running.prefix if running else []),
        *ptf("--platform", platform, "--platform-dir", str(HERE / "platforms"), "--platform-args", described),
        *("--log-file", str(folder / "ptf.log")),
        *("--default-timeout", str(running.patience) if running else "0", "--default-negative-timeout", "0"),
        *("--qlen", "1000", "--socket-recv-size", "65536", "--random-seed", "1"),
        *tests,
    ]
    # A session of its own: Ctrl-C is for us, and ptf hears of it once.
    with subprocess.Popen(words, env=environment(), start_new_session=True) as process:
        try:
            return process.wait()
        except KeyboardInterrupt:
            process.terminate()
            process.wait(LAST_TEST)
            raise
        finally:
            process.kill()


def described_for_ptf(running: Running) -> str:
    """What platforms/at_address.py reads."""
    return json.dumps(
        {
            "target": running.address,
            "ports": running.ports,
            "device_id": running.device_id,
            "patience": running.patience,
            "p4info": str(running.p4info),
            "config": str(running.config),
            "deviations": running.deviations,
        }
    )


def ptf(*options: str) -> list[str]:
    """The command that starts ptf."""
    program = [sys.executable, str(Path(sys.executable).with_name("ptf")), "--test-dir", str(HERE / "suites")]
    return [*program, "--allow-user", "--quiet", "--disable-vxlan", "--disable-geneve", "--disable-erspan", *options]


def environment() -> dict[str, str]:
    """Where ptf finds what the tests import."""
    path = [HERE, ROOT / "p4src" / "tests", ROOT / "controller"]
    return os.environ | {"PYTHONPATH": os.pathsep.join(map(str, path))}
