"""tshark as second opinion: which of some frames it calls malformed."""

from __future__ import annotations

import shutil
import struct
import subprocess
from collections.abc import Sequence

TSHARK = shutil.which("tshark")
_SECONDS = 120
_FILE_HEADER = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 0x40000, 1)  # version 2.4, Ethernet


def malformed(frames: Sequence[bytes]) -> dict[int, str]:
    """The numbers of the malformed frames, and what tshark says of them."""
    records = (struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame for frame in frames)
    command = [str(TSHARK), "-n", "-r", "-", "-T", "fields", "-E", "separator=|"]
    for field in ("frame.number", "_ws.malformed", "_ws.expert.message"):
        command += ["-e", field]
    done = subprocess.run(
        command, input=_FILE_HEADER + b"".join(records), capture_output=True, check=True, timeout=_SECONDS
    )
    lines = [line.split("|", 2) for line in done.stdout.decode(errors="replace").splitlines()]
    assert len(lines) == len(frames), f"tshark read {len(lines)} of {len(frames)} frames"
    return {int(number) - 1: message for number, mark, message in lines if mark}
