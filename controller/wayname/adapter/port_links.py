"""Which links of the switch's ports are up, asked at its administration socket: P4Runtime has no word for it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from wayname.adapter.port_losses import NoAnswerError, ask_metrics

_SAMPLE = re.compile(r'^wayname_switch_port_up\{port="(\d+)"\} ([01])$', re.MULTILINE)


async def ask_links(socket: str | None) -> Mapping[int, bool]:
    """Ask the switch at `unix:/PATH`; nothing is known where it has no such socket, or does not answer."""
    if socket is None:
        return {}
    try:
        return read_links(await ask_metrics(socket))
    except NoAnswerError:
        return {}


def read_links(metrics: str) -> Mapping[int, bool]:
    """Read the switch's metrics."""
    return {int(port): up == "1" for port, up in _SAMPLE.findall(metrics)}
