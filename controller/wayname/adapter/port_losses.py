"""What the ports of the switch lost before and behind its program, asked at its administration socket.

P4Runtime has no word for it: these frames met no program, or no link.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import httpx

WITHIN = 2.0
_SAMPLE = re.compile(r'^wayname_switch_lost_packets_total\{port="(\d+)",reason="(\w+)"\} (\d+)$', re.MULTILINE)


class NoAnswerError(Exception):
    """Why the switch does not say."""


@dataclass(frozen=True, slots=True)
class PortLoss:
    """Frames that a port lost since the switch started, and the switch's word for why."""

    port: int
    reason: str
    packets: int


async def ask_port_losses(socket: str) -> list[PortLoss]:
    """Ask the switch at `unix:/PATH` for what its ports lost."""
    return read_port_losses(await ask_metrics(socket))


async def ask_metrics(socket: str) -> str:
    """Ask the switch at `unix:/PATH` for its metrics."""
    transport = httpx.AsyncHTTPTransport(uds=socket.removeprefix("unix:"))
    try:
        async with httpx.AsyncClient(transport=transport, base_url="http://switch", timeout=WITHIN) as client:
            answer = await client.get("/metrics")
    except httpx.HTTPError as error:
        raise NoAnswerError(str(error) or type(error).__name__) from None
    return answer.text


def read_port_losses(metrics: str) -> list[PortLoss]:
    """Read the switch's metrics."""
    return [PortLoss(int(port), reason, int(packets)) for port, reason, packets in _SAMPLE.findall(metrics)]
