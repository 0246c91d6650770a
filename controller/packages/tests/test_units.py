"""The units of systemd, by systemd's own judgement."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from places import PACKAGES

SERVICES = ("wayname-switch", "wayname")
# As systemd-analyze counts: 10 is bare, and below 2 few services get. The switch needs the network's raw frames.
MOST_EXPOSURE = {"wayname-switch": 3.5, "wayname": 2.0}

pytestmark = pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not there")


@pytest.fixture
def units(tmp_path: Path) -> Path:
    """The units, with programs that are there."""
    for service in SERVICES:
        text = (PACKAGES / "systemd" / f"{service}.service.in").read_text()
        (tmp_path / f"{service}.service").write_text(text.replace("@BIN@", str(tmp_path)))
        (tmp_path / service).symlink_to("/bin/true")
    return tmp_path


def test_units_are_right(units: Path) -> None:
    files = [units / f"{service}.service" for service in SERVICES]
    # The manual is not installed here.
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *files], capture_output=True, text=True, check=False
    )
    ours = [line for line in done.stderr.splitlines() if str(units) in line or "wayname" in line]
    assert (done.returncode, ours) == (0, [])


@pytest.mark.parametrize("service", SERVICES)
def test_units_give_services_no_more_than_they_need(
    units: Path, service: str, capsys: pytest.CaptureFixture[str]
) -> None:
    done = subprocess.run(
        ["systemd-analyze", "security", "--no-pager", "--offline=true", units / f"{service}.service"],
        capture_output=True,
        text=True,
        check=False,
    )
    found = re.search(r"exposure level for \S+: ([\d.]+)", done.stdout)
    assert found, done.stdout + done.stderr
    with capsys.disabled():
        print(f"\n{service}.service: exposure {found[1]}")
    assert float(found[1]) <= MOST_EXPOSURE[service], done.stdout
