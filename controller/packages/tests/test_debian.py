"""The Debian package: what lintian says of it, and the edge that runs from it where nothing else of Wayname is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from places import PACKAGES, REPOSITORY, Run

MISSING = [tool for tool in ("dpkg-buildpackage", "dh", "unshare") if not shutil.which(tool)]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"{', '.join(MISSING)} not there")


@pytest.fixture(scope="module")
def package(wheels: dict[str, Path], run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package; Python's packages come from where pip finds them."""
    folder = tmp_path_factory.mktemp("debian")
    pip = f"{sys.executable} -m pip"
    run(PACKAGES / "debian.sh", wheels["wayname"], folder, PIP=pip)
    [made] = folder.glob("*.deb")
    return made


@pytest.mark.skipif(not shutil.which("lintian"), reason="lintian is not there")
def test_lintian_finds_no_errors(package: Path) -> None:
    command: list[str | Path] = ["lintian", "--allow-root", "--tag-display-limit", "0", package]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, [line for line in done.stdout.splitlines() if line.startswith("E:")]) == (0, [])


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("ping"), reason="needs root and ping")
def test_an_edge_runs_from_the_package_as_its_units_say(package: Path, run: Run) -> None:
    script = PACKAGES / "tests" / "edge_in_root.sh"
    told = run(
        "unshare",
        "--mount",
        "--pid",
        "--fork",
        "--kill-child",
        "--propagation",
        "private",
        "bash",
        script,
        package,
        REPOSITORY,
    )
    assert "60 packets transmitted, 60 received" in told
    # Before and after the switch started again, then without a controller.
    assert told.count("3 packets transmitted, 3 received") == 2
