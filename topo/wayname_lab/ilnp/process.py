"""A host that speaks ILNP as a process at the end of a wire; it takes the arguments of `wayname-host` that it needs.

python -m wayname_lab.ilnp.process --wire PATH --mac MAC --address ADDRESS/64 --gateway ADDRESS --mtu N --seed N
"""

import argparse
import asyncio
from pathlib import Path

from wayname_lab.host_process import HostProcess
from wayname_lab.ilnp.host import IlnpHost


def main() -> None:
    """Run a host until nobody is left who commands."""
    parser = argparse.ArgumentParser(prog="wayname_lab.ilnp.process", description="A host that speaks ILNP.")
    parser.add_argument("--wire", type=Path, required=True)
    for name in ("--mac", "--address", "--gateway"):
        parser.add_argument(name, required=True)
    for name in ("--mtu", "--seed"):
        parser.add_argument(name, type=int, required=True)
    given = parser.parse_args()
    host = IlnpHost(mac=given.mac, address=given.address, gateway=given.gateway, mtu=given.mtu, seed=given.seed)
    asyncio.run(HostProcess(host, given.wire).run())


if __name__ == "__main__":
    main()
