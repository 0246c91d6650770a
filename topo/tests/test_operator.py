"""docs/run-your-edge.md followed word for word, on Linux hosts in network namespaces."""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from pathlib import Path

import pytest
from operator_site import lacking, operator_site

REPOSITORY = Path(__file__).parents[2]
PAGE = REPOSITORY / "docs" / "run-your-edge.md"
BLOCK = re.compile(r"^```sh\n# on (?:the|a) (?P<machine>edge|host)\n(?P<lines>.*?)^```$", re.DOTALL | re.MULTILINE)
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
    with operator_site(tmp_path, path) as machines:
        visited = set()
        for machine, line in steps():
            if machine == "host" and machine not in visited:
                end = time.monotonic() + SECONDS
                shown = "ip -6 address show dev eth0 scope global -tentative | grep -q inet6"
                while machines["host"].run(shown) and time.monotonic() < end:
                    time.sleep(0.2)
            visited.add(machine)
            transcript = machines[machine].transcript
            before = transcript.stat().st_size
            status = machines[machine].run(line)
            said = transcript.read_bytes()[before:].decode(errors="replace")
            logs = "" if status == 0 else "\n".join(each.read_text() for each in (tmp_path / "edge").glob("*.log"))
            assert status == 0, f"{machine}: {line}\n{said}\n{logs}"
        # The cut was one, the ping went on, and the edge is whole again.
        assert "provider.down" in machines["edge"].transcript.read_text()
        received = re.search(r"100 packets transmitted, (\d+) received", (tmp_path / "host" / "ping.log").read_text())
        assert received is not None
        assert int(received[1]) > 50
        assert machines["edge"].run("wayname status --wait --timeout 30") == 0
