"""A default install, scanned: nothing answers but Unix sockets of its owner."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from places import PACKAGES, REPOSITORY

MAY = os.geteuid() == 0 and all(map(shutil.which, ("unshare", "ip", "mount")))
SWITCH = REPOSITORY / "switch" / "target" / "release" / "wayname-switch"
SECONDS = 300

pytestmark = pytest.mark.skipif(not MAY, reason="needs root, unshare, ip and mount")


def test_nothing_of_a_default_install_answers_but_its_own_sockets(tmp_path: Path) -> None:
    script = Path(__file__).with_name("scanned_edge.py")
    places = (Path(sys.executable).parent, SWITCH, PACKAGES / "systemd", tmp_path)
    command = ["unshare", "--net", "--mount", sys.executable, str(script), *map(str, places)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    logs = "".join(path.read_text() for path in tmp_path.glob("*.log"))
    assert done.returncode == 0, done.stderr + logs
    found = json.loads(done.stdout)
    assert found["ready"], logs
    assert found["sees"]
    # 65,535 ports of TCP on each address of the machine were tried.
    assert found["open"] == []
    assert found["sockets"] == []
    # Nobody but their owner may connect; none is abstract, which has no owner.
    assert found["unix"] == {
        "/run/wayname-switch/admin": "600",
        "/run/wayname-switch/p4runtime": "600",
        "/run/wayname/api": "600",
    }
