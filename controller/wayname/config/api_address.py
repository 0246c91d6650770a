"""Where the API listens: `HOST:PORT` or `unix:PATH`, written the same in the configuration and on the command line."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

# A name or an IPv4 address, or an IPv6 address in brackets.
HOST_AND_PORT = re.compile(
    r"((?P<name>[^\s:/\[\]\0]+)|\[(?P<number>[0-9A-Fa-f:.]+(%[^\s/\[\]\0]+)?)\]):(?P<port>[0-9]{1,5})"
)


@dataclass(frozen=True, slots=True)
class TcpAddress:
    """A host, by name or number, and a port."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class UnixAddress:
    """A socket in the file system; its permissions say who may ask."""

    path: Path

    def __str__(self) -> str:
        return f"unix:{self.path}"


ApiAddress = TcpAddress | UnixAddress


def default_address() -> UnixAddress:
    """A socket in a folder where only this user can put one."""
    if os.geteuid() == 0:
        folder = Path("/run")
    elif runtime := os.environ.get("XDG_RUNTIME_DIR"):
        folder = Path(runtime)
    else:
        folder = Path.home() / ".local" / "state"
    return UnixAddress(folder / "wayname" / "api")


def parse_address(text: str) -> ApiAddress:
    """Read an address; a ValueError says what is wrong with it."""
    if text.startswith("unix:"):
        path = text.removeprefix("unix:")
        if not path:
            raise ValueError("unix: needs a path behind it, as in unix:/run/wayname.sock")
        return UnixAddress(Path(path))
    found = HOST_AND_PORT.fullmatch(text)
    if not found or not 0 < int(found["port"]) < 65536:
        raise ValueError(f"{text!r} is no address: write HOST:PORT or unix:PATH, as in 127.0.0.1:9580")
    return TcpAddress(found["number"] or found["name"], int(found["port"]))
