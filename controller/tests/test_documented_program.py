"""The program that docs/switch.md gives to begin with passes its case on the switch."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from repository import REPOSITORY
from test_adapter import SWITCH


def test_the_first_program_passes_its_case(tmp_path: Path) -> None:
    page = (REPOSITORY / "docs" / "switch.md").read_text()
    found = re.search(r"```p4\n(.*?)```\n+```text\n(.*?)```", page, re.DOTALL)
    assert found
    program, cases = tmp_path / "program.p4", tmp_path / "cases.stf"
    program.write_text(found[1])
    cases.write_text(found[2])
    done = subprocess.run([SWITCH, "test", program, cases], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done
    assert "1 of 1 cases passed" in done.stdout
