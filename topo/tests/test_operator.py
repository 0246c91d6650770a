"""docs/run-your-edge.md followed word for word, on Linux hosts in network namespaces."""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from pathlib import Path

import pytest
from operator_site import SERVER, lacking, operator_site

REPOSITORY = Path(__file__).parents[2]
PAGE = REPOSITORY / "docs" / "run-your-edge.md"
BLOCK = re.compile(r"^```sh\n# on (?:the|a) (?P<machine>edge|host)\n(?P<lines>.*?)^```$", re.DOTALL | re.MULTILINE)
# Names the Debian package that is to be all that the edge has; without it, the checkout's programs are in PATH.
PACKAGE = "WAYNAME_DEB"
SHOW_ADDRESSES = "ip -6 address show dev eth0 scope global -tentative"
HOST_ADDRESS = "inet6 fd"
# A host's address from the edge's advertisements; as long as a person would wait.
SECONDS = 60


def steps() -> list[tuple[str, str]]:
    """The page's commands, each with the machine that it is for."""
    found = [
        (block["machine"], line) for block in BLOCK.finditer(PAGE.read_text()) for line in block["lines"].splitlines()
    ]
    # iperf3 may be missing; what the page needs is asked for by `lacking`.
    return [(machine, line) for machine, line in found if not line.startswith("iperf3") or shutil.which("iperf3")]


def test_the_page_has_a_cut_and_says_what_is_routed() -> None:
    lines = [line for _, line in steps()]
    assert "ip link set eth2 down" in lines
    assert "**IPv6 is routed and translated. IPv4 is only bridged**" in PAGE.read_text().split("```")[0]


@pytest.mark.skipif(lacking() != "", reason=lacking())
def test_the_page_followed_word_for_word(tmp_path: Path) -> None:
    programs = (Path(sys.executable).parent, REPOSITORY / "switch" / "target" / "release")
    path = ":".join([*map(str, programs), os.environ["PATH"]])
    package = os.environ.get(PACKAGE)
    with operator_site(tmp_path, path, Path(package).resolve() if package else None) as machines:
        visited = set()
        told = ""
        for name, line in steps():
            machine = machines[name]
            if name == "host" and name not in visited:
                end = time.monotonic() + SECONDS
                while HOST_ADDRESS not in machine.run(SHOW_ADDRESSES)[1] and time.monotonic() < end:
                    time.sleep(0.2)
            visited.add(name)
            status, said = machine.run(line)
            told += said
            assert not line.startswith("dig ") or said == f"{SERVER}\n"
            logs = "" if status == 0 else machines["edge"].run("tail -n 20 *.log")[1]
            assert status == 0, f"{name}: {line}\n{said}\n{logs}"
        # The cut was one, the ping went on, and the edge is whole again.
        assert "provider.down" in told
        received = re.search(r"100 packets transmitted, (\d+) received", told)
        assert received is not None
        assert int(received[1]) > 50
        assert machines["edge"].run("wayname status --wait --timeout 30")[0] == 0
