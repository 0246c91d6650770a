"""Starts a service of systemd as its unit says, where systemd does not run: user, capabilities, folders, environment.

Ends with status 0 once the service said that it is ready and that it is alive, and leaves it running; prints its pid.
Needs nothing but Python, since it runs where only the package is installed.
"""

from __future__ import annotations

import os
import pwd
import shlex
import shutil
import socket
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

SECONDS = 120.0
WATCHDOG_SECONDS = 2


def main(unit: Path, log: Path) -> None:
    """Start the service of a unit."""
    said = read(unit)
    (user,) = said["User"]
    account = pwd.getpwnam(user)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": account.pw_dir,
        "WATCHDOG_USEC": str(WATCHDOG_SECONDS * 1_000_000),
    }
    environment |= dict(each.split("=", 1) for each in said["Environment"])
    for file in said["EnvironmentFile"]:
        lines = Path(file).read_text().splitlines()
        environment |= dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
    for key, above in (("RuntimeDirectory", "/run"), ("StateDirectory", "/var/lib")):
        for name in said[key]:
            folder = Path(above, name)
            folder.mkdir(exist_ok=True)
            folder.chmod(int(said[f"{key}Mode"][0], 8))
            shutil.chown(folder, user, user)
            environment["STATE_DIRECTORY" if key == "StateDirectory" else "RUNTIME_DIRECTORY"] = str(folder)
    heard = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    where = f"\0{unit.name}"
    heard.bind(where)
    heard.settimeout(1.0)
    environment["NOTIFY_SOCKET"] = f"@{unit.name}"

    service = subprocess.Popen(
        [*privileges(said), *command(said, environment)],
        env=environment,
        stdout=log.open("wb"),
        stderr=subprocess.STDOUT,
    )
    end = time.monotonic() + SECONDS
    for wanted in (b"READY=1", b"WATCHDOG=1"):
        while said_next(heard) != wanted:
            if service.poll() is not None:
                sys.exit(f"{unit.name} ended with status {service.returncode} before it said {wanted.decode()}")
            if time.monotonic() > end:
                sys.exit(f"{unit.name} did not say {wanted.decode()} within {SECONDS:.0f} s")
    print(service.pid)


def said_next(heard: socket.socket) -> bytes:
    """Return what the service says next, nothing where it is silent for a second."""
    try:
        return heard.recv(4096)
    except TimeoutError:
        return b""


def read(unit: Path) -> dict[str, list[str]]:
    """Return what a unit says, by key."""
    said: dict[str, list[str]] = defaultdict(list)
    for line in unit.read_text().splitlines():
        if "=" in line and not line.startswith("#"):
            key, value = line.split("=", 1)
            said[key].append(value)
    return said


def privileges(said: dict[str, list[str]]) -> list[str]:
    """Return the command that gives up all privileges but those of the unit."""
    capabilities = [
        f"+{each.removeprefix('CAP_').lower()}" for line in said["AmbientCapabilities"] for each in line.split()
    ]
    some = ",".join(["-all", *capabilities])
    user, group = said["User"][0], said["Group"][0]
    limits = ["setpriv", "--reuid", user, "--regid", group, "--clear-groups", "--no-new-privs", "--bounding-set", some]
    return [*limits, "--inh-caps", some, *(["--ambient-caps", some] if capabilities else [])]


def command(said: dict[str, list[str]], environment: dict[str, str]) -> list[str]:
    """Return the words of ExecStart=; a variable may be several."""
    words = []
    for word in shlex.split(said["ExecStart"][0]):
        words += environment[word[1:]].split() if word.startswith("$") else [word]
    return words


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
