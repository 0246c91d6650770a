"""A lab whose controllers are of a fleet: what they log, and what they answer."""

from __future__ import annotations

import json
from typing import Any

import httpx

from wayname_lab.running import RunningLab


class RunningFleet(RunningLab):
    """A lab whose edges have more than one controller each."""

    def kinds(self, process: str) -> list[str]:
        """Return the kinds of what a process logged."""
        text = (self.folder / f"{process}.log").read_text(errors="replace")
        # The last line may still be written.
        complete = text[: text.rfind("\n") + 1].splitlines()
        return [json.loads(line)["kind"] for line in complete if line.startswith('{"kind"')]

    async def ask(self, name: str, path: str, method: str = "GET") -> Any:
        """Return what a controller answers; None if it does not."""
        transport = httpx.AsyncHTTPTransport(uds=str(self.folder / f"{name}.api"))
        async with httpx.AsyncClient(transport=transport, base_url="http://controller", timeout=10) as client:
            try:
                answer = await client.request(method, path)
            except httpx.TransportError:
                return None
            return answer.json() if answer.is_success else None
