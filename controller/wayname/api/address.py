"""Where the API listens: `HOST:PORT` or `unix:PATH`, written the same in the configuration and on the command line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

DEFAULT_ADDRESS = "127.0.0.1:9580"


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


def parse_address(text: str) -> ApiAddress:
    """Read an address; a ValueError says what is wrong with it."""
    if text.startswith("unix:"):
        path = text.removeprefix("unix:")
        if not path:
            raise ValueError("unix: needs a path behind it, as in unix:/run/wayname.sock")
        return UnixAddress(Path(path))
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise ValueError(f"{text!r} is no address: write HOST:PORT or unix:PATH, as in {DEFAULT_ADDRESS}")
    return TcpAddress(host, int(port))
