"""What a lab asks of its switches by their Unix sockets: counters of ports, and links to cut, mend and change."""

import re
from dataclasses import dataclass
from pathlib import Path

import httpx

from wayname_lab.model import Quality
from wayname_lab.ports import device_options

SAMPLE = re.compile(r'^wayname_switch_(received|sent)_bytes_total\{port="(\d+)"\} (\d+)$', re.MULTILINE)


@dataclass(slots=True)
class Octets:
    """What went through a port."""

    received: int = 0
    sent: int = 0


class Admin:
    """A switch's administration socket."""

    def __init__(self, socket: Path) -> None:
        self._client = httpx.AsyncClient(
            transport=httpx.AsyncHTTPTransport(uds=str(socket)), base_url="http://switch", timeout=2.0
        )

    async def counters(self) -> dict[int, Octets]:
        """Return what went through each port since the switch started."""
        response = await self._client.get("/metrics")
        return parse_counters(response.text)

    async def set_cut(self, port: int, cut: bool) -> None:
        """Cut a port's link, or mend it."""
        response = await self._client.request("PUT" if cut else "DELETE", f"/ports/{port}/cut")
        response.raise_for_status()

    async def set_link(self, port: int, quality: Quality) -> None:
        """Have a port's link do this to what the switch sends by it."""
        options = device_options(quality).removeprefix("?")
        response = await self._client.put(f"/ports/{port}/link", content=options)
        response.raise_for_status()

    async def close(self) -> None:
        """Let go of the connection."""
        await self._client.aclose()


def parse_counters(text: str) -> dict[int, Octets]:
    """Read the counters of ports out of the switch's metrics."""
    ports: dict[int, Octets] = {}
    for direction, port, value in SAMPLE.findall(text):
        octets = ports.setdefault(int(port), Octets())
        setattr(octets, direction, int(value))
    return ports
