"""Give a switch its program and its entries: `python -m bench.encap.write_entries ADDRESS P4INFO CONFIG ENTRIES`.

A program of its own, because it must run in the switch's namespace.
"""

from __future__ import annotations

import sys
from pathlib import Path

from finsy.proto import p4r

from harness.grpc_target import GrpcTarget, Program
from harness.target import DEVICE_ID

# So many entries take any switch less than the time that a request may take.
BATCH = 50


def main(address: str, p4info: str, config: str, entries: str) -> None:
    """Write all of them; the first refusal ends it."""
    target = GrpcTarget(address, DEVICE_ID, Program.load(Path(p4info), Path(config)))
    updates = list(p4r.WriteRequest.FromString(Path(entries).read_bytes()).updates)
    for begin in range(0, len(updates), BATCH):
        for status in target.write(updates[begin : begin + BATCH]):
            if status.code:
                sys.exit(f"{address} refused an entry: {status.name}: {status.text}")
    target.controller.close()


main(*sys.argv[1:])
