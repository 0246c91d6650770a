"""The program that docs/packet-buffer.md gives to read counters of a running switch reads those that it names."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import grpc
from repository import REPOSITORY
from test_adapter import SWITCH

PIPELINE = REPOSITORY / "p4src"
PATIENCE = 60.0


def test_counters_of_the_program_are_read(tmp_path: Path) -> None:
    page = (REPOSITORY / "docs" / "packet-buffer.md").read_text()
    code = re.search(r"```python\n(.*?)```", page, re.DOTALL)
    command = re.search(r"counters\.py unix:\S+ (\d+) (.*?) +#", page)
    assert code
    assert command
    program, address = tmp_path / "counters.py", f"unix:{tmp_path}/p4runtime"
    program.write_text(code[1])
    main = PIPELINE / "v1model" / "main.p4"
    switch = subprocess.Popen([SWITCH, "--grpc-server-addr", address, "-I", PIPELINE, main])
    try:
        with grpc.insecure_channel(address, [("grpc.default_authority", "localhost")]) as channel:
            grpc.channel_ready_future(channel).result(PATIENCE)
        line = [sys.executable, program, address, command[1], *command[2].split()]
        done = subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE, check=False)
    finally:
        switch.kill()
        switch.wait()
    assert (done.returncode, done.stderr) == (0, "")
    read = [line.split() for line in done.stdout.splitlines()]
    assert sorted(read) == [
        *(["buffer_refusals", str(index), "0"] for index in range(2)),
        *(["path_reports_heard", str(index), "0"] for index in range(4)),
    ]
