"""A HIP host as a process at the end of a wire: commands come in as JSON lines, events go out, as with `wayname-host`.

python -m wayname_lab.hip.process FILE      FILE is what `describe` makes of a plan
"""

from __future__ import annotations

import asyncio
import json
import sys
from ipaddress import IPv6Address
from pathlib import Path

from wayname.hip.esp.suites import SuiteId
from wayname_lab.hip.make import Described, make_hip_host
from wayname_lab.host_process import HostProcess


def describe(path: Path, described: Described, wire: Path) -> None:
    """Write down what a process needs to know."""
    text = {
        "wire": str(wire),
        "name": described.name,
        "mac": described.mac,
        "gateway": str(described.gateway),
        "mtu": described.mtu,
        "seed": described.seed,
        "suite": int(described.suite),
        "rekey": described.rekey,
        "locators": [str(one) for one in described.locators],
        "peers": {str(hit): [str(one) for one in locators] for hit, locators in described.peers.items()},
    }
    path.write_text(json.dumps(text), encoding="utf-8")


def read_description(path: Path) -> tuple[Described, Path]:
    """Read it, and the path of the wire."""
    text = json.loads(path.read_text(encoding="utf-8"))
    described = Described(
        name=text["name"],
        mac=text["mac"],
        gateway=IPv6Address(text["gateway"]),
        mtu=text["mtu"],
        seed=text["seed"],
        suite=SuiteId(text["suite"]),
        rekey=text["rekey"],
        locators=tuple(IPv6Address(one) for one in text["locators"]),
        peers={IPv6Address(hit): tuple(map(IPv6Address, of)) for hit, of in text["peers"].items()},
    )
    return described, Path(text["wire"])


async def run(path: Path) -> None:
    """Run the host that is described in a file."""
    described, wire = read_description(path)
    await HostProcess(make_hip_host(described), wire).run()


if __name__ == "__main__":
    asyncio.run(run(Path(sys.argv[1])))
