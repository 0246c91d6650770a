"""Starts switch and controller as the units do, with what `wayname init` writes, and looks for what answers.

Runs in network and mount namespaces of its own. Prints JSON: sockets that listen, ports that answer.
"""

from __future__ import annotations

import json
import os
import shlex
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

PORTS = range(1, 65536)
ADDRESSES = ("127.0.0.1", "::1", "192.0.2.1", "2001:db8:9::1")
LISTENS, ACCEPTS = "0A", 0x10000
PATIENCE = 120
PROVIDERS = ("eth2,2001:db8:a::/48,fe80::1", "eth3,2001:db8:b::/48,fe80::1")


def main(binaries: Path, switch: Path, units: Path, folder: Path) -> None:
    """Start an edge, look at it, and end it."""
    for command in preparation():
        subprocess.run(shlex.split(command), check=True, stdout=subprocess.DEVNULL)
    for name in ("wayname", "wayname-switch"):
        Path("/run", name).mkdir()
    wayname, file = str(binaries / "wayname"), folder / "edge.toml"
    options = [word for each in PROVIDERS for word in ("--provider", each)]
    made = [wayname, "init", str(file), "--yes", "--hosts", "eth1", *options]
    subprocess.run(made, check=True, stdout=subprocess.DEVNULL)
    started = []
    ports = "-i 1@eth1 -i 2@eth2 -i 3@eth3"
    for unit in ("wayname-switch", "wayname"):
        command = exec_start(units / f"{unit}.service.in").replace("$PORTS", ports)
        command = command.replace("@BIN@/wayname-switch", str(switch)).replace("@BIN@", str(binaries))
        command = command.replace("/var/lib/wayname-switch", str(folder))
        words = shlex.split(command.replace("/etc/wayname/edge.toml", str(file)))
        log = (folder / f"{unit}.log").open("wb")
        environment = {**os.environ, "XDG_RUNTIME_DIR": "/run", "STATE_DIRECTORY": str(folder)}
        started.append(subprocess.Popen(words, env=environment, stdout=log, stderr=log))
    try:
        # The providers are not there, so it is enough that the switch has all tables.
        status = [wayname, "status", "--json"]
        for _ in range(PATIENCE):
            asked = subprocess.run(status, capture_output=True, check=False, timeout=PATIENCE)
            if asked.returncode == 0 and json.loads(asked.stdout)["switch"]["state"] == "ready":
                break
        found = {"ready": asked.returncode == 0, "sockets": list(sockets()), "unix": dict(unix_sockets())}
        found["open"] = [[address, port] for address in ADDRESSES for port in PORTS if answers(address, port)]
        with socket.socket() as own:
            own.bind(("127.0.0.1", 0))
            own.listen()
            # Or a scan that finds nothing would prove nothing.
            found["sees"] = answers("127.0.0.1", own.getsockname()[1]) and any(sockets())
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait(PATIENCE)
    print(json.dumps(found))


def preparation() -> Iterator[str]:
    """Yield the commands that make an empty machine with three ports, and a device for its operator."""
    yield "mount -t tmpfs tmpfs /run"
    yield "ip link set lo up"
    for number in (1, 2, 3):
        yield f"ip link add eth{number} type veth peer name far{number}"
        yield f"sysctl -qw net.ipv6.conf.eth{number}.disable_ipv6=1"
        yield f"ip link set eth{number} up"
        yield f"ip link set far{number} up"
    yield "ip link add mgmt type veth peer name far4"
    yield "ip link set mgmt up"
    yield "ip link set far4 up"
    yield "ip address add 192.0.2.1/24 dev mgmt"
    yield "ip address add 2001:db8:9::1/64 dev mgmt nodad"


def exec_start(unit: Path) -> str:
    """Return how a unit starts its service."""
    (line,) = (line for line in unit.read_text().splitlines() if line.startswith("ExecStart="))
    return line.removeprefix("ExecStart=")


def sockets() -> Iterator[str]:
    """Yield the sockets of IP that take what comes: all of UDP and of raw IP, and those of TCP that listen."""
    for kind in ("tcp", "tcp6", "udp", "udp6", "udplite", "udplite6", "raw", "raw6"):
        table = Path("/proc/self/net", kind)
        for line in table.read_text().splitlines()[1:] if table.exists() else ():
            words = line.split()
            if not kind.startswith("tcp") or words[3] == LISTENS:
                yield f"{kind} {words[1]}"


def unix_sockets() -> Iterator[tuple[str, str]]:
    """Yield the names of Unix sockets that listen, with the modes of their files; abstract ones begin with an @."""
    for line in Path("/proc/self/net/unix").read_text().splitlines()[1:]:
        words = line.split()
        if int(words[3], 16) & ACCEPTS and len(words) > 7:
            path = Path(words[7])
            yield words[7], f"{stat.S_IMODE(path.stat().st_mode):o}" if path.exists() else "none"


def answers(address: str, port: int) -> bool:
    """Whether somebody accepts a connection; all addresses are this machine's, so it is known at once."""
    while True:
        with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as asking:
            asking.settimeout(1)
            if asking.connect_ex((address, port)) != 0:
                return False
            # A socket that happens to get this very port connects to itself.
            if asking.getsockname() != asking.getpeername():
                return True


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
