"""What a lab asks of its controllers, by their Unix sockets: whether they are ready, and what happens."""

import asyncio
import json
from collections import Counter
from pathlib import Path

import httpx

from wayname_lab.lab_events import LabEvents, Severity

PAUSE = 0.1
# Each packet of a host may make some of these; `wayname events` has them all.
COMMONPLACE = ("station.", "neighbour.")
# What `/v1/status` says of the switch after these events.
STATES = {"switch.up": "ready", "switch.down": "connecting"}
SEVERITIES: dict[str, Severity] = {"info": "info", "warning": "warning", "error": "error"}


class ControllerApi:
    """A controller's API; the controller may go and come back."""

    def __init__(self, name: str, socket: Path) -> None:
        self.name = name
        self.state = "starting"
        self._socket = socket
        self._client = self._connection(2.0)
        self.page_client = self._connection(None)
        self._seen = 0

    async def is_ready(self) -> bool:
        """Ask whether the switch is connected and holds what the controller wants."""
        try:
            response = await self._client.get("/v1/status")
        except httpx.TransportError:
            self.state = "away"
            return False
        self.state = response.json()["switch"]["state"]
        return bool(self.state == "ready")

    async def follow(self, event_log: LabEvents) -> None:
        """Pass on what happens, for ever."""
        async with self._connection(None) as client:
            while True:
                try:
                    await self._read(client, event_log)
                except httpx.TransportError:
                    self.state = "away"
                await asyncio.sleep(PAUSE)
                await self.is_ready()

    async def scheduled_paths(self, schedule: str) -> int:
        """Return by how many paths the sessions of a schedule go; 0 if there are none."""
        async with self._connection(2.0) as client:
            groups = (await client.get(f"/v1/schedules/{schedule}")).json()["groups"]
        return max((sum(path["state"] != "left" for path in group["paths"]) for group in groups), default=0)

    async def schedules(self) -> list[str]:
        """Return the names of the schedules."""
        async with self._connection(2.0) as client:
            return [str(schedule["name"]) for schedule in (await client.get("/v1/schedules")).json()]

    async def sent_by_path(self, schedule: str) -> dict[int, int]:
        """Return how many packets of a schedule's sessions went by each of its paths."""
        sent: Counter[int] = Counter()
        async with self._connection(2.0) as client:
            for session in (await client.get("/v1/sessions")).json():
                if session["schedule"] == schedule:
                    known = (await client.get(f"/v1/sessions/{session['number']}")).json()
                    paths = [path for path in known["paths"] if path["number"] in session["scheduled_paths"]]
                    sent.update({path["number"]: path["sent_packets"] or 0 for path in paths})
        return dict(sent)

    async def set_policy(self, schedule: str, policy: str) -> None:
        """Have the sessions of a schedule share their packets out this way from now on."""
        # A connection of its own: one that was idle for some seconds the other end may just be closing.
        async with self._connection(2.0) as client:
            answer = await client.post(f"/v1/schedules/{schedule}/policy", json={"policy": policy})
            answer.raise_for_status()

    async def close(self) -> None:
        """Let go of the connection."""
        await self._client.aclose()
        await self.page_client.aclose()

    def _connection(self, timeout: float | None) -> httpx.AsyncClient:
        transport = httpx.AsyncHTTPTransport(uds=str(self._socket))
        return httpx.AsyncClient(transport=transport, base_url="http://controller", timeout=timeout)

    async def _read(self, client: httpx.AsyncClient, event_log: LabEvents) -> None:
        async with client.stream("GET", "/v1/events", params={"since": self._seen, "follow": "true"}) as response:
            async for line in response.aiter_lines():
                event = json.loads(line)
                self._seen = event["sequence"]
                self.state = STATES.get(event["kind"], self.state)
                if not event["kind"].startswith(COMMONPLACE):
                    event_log.tell(self.name, event["text"], SEVERITIES[event["severity"]])
