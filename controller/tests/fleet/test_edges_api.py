"""The API of a process that stands for several edges of a fleet."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from hashlib import sha256

import httpx
from access.edge import SITE
from fastapi import FastAPI
from served import OWNER, Served, asked_by

from wayname.api.app import ApiServices, edge_app
from wayname.api.audit import Audit
from wayname.api.callers import LocalUser, Peer
from wayname.api.edges import make_edges_app
from wayname.config.api import ApiToken, Role
from wayname.edge.boundary import Severity

# How an edge is that does not run.
NOTHING = {
    "runs": False,
    "leads": False,
    "connected": False,
    "sessions": 0,
    "providers": 0,
    "providers_used": 0,
    "restarts": 0,
    "why": "",
}


class OneOf:
    """An edge that is served."""

    def __init__(self, site: str = SITE) -> None:
        self.controller = Served(site)
        self.services: ApiServices = self.controller.beside
        self.app: FastAPI = edge_app(self.controller, self.services)


class Two:
    """A process with an edge that runs and one that does not."""

    def __init__(self) -> None:
        self.running = {"berlin": OneOf()}
        self.config = self.running["berlin"].controller.config
        self.why_not = {"berlin": "", "hamburg": "no switch"}
        self.restarts = Counter({("hamburg", "SwitchError"): 3})
        self.audited: list[tuple[str, str]] = []
        self.reloads = 0

    async def reload(self) -> list[str]:
        """Count how often the process is to read its file again."""
        self.reloads += 1
        return ["api.token"]

    def report(self, kind: str, severity: Severity, subject: str, text: str) -> None:
        """Take note of what is of no edge."""
        self.audited.append((kind, text))

    @contextlib.asynccontextmanager
    async def client(self, peer: Peer = OWNER) -> AsyncIterator[httpx.AsyncClient]:
        """Somebody who asks."""
        app = asked_by(peer, make_edges_app(self, Audit(self.report, lambda: 0.0)))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://api") as client:
            yield client


async def test_an_edge_is_asked_by_its_name() -> None:
    two = Two()
    berlin = two.running["berlin"].controller
    async with two.client() as client:
        status = await client.get("/edges/berlin/v1/status")
        assert status.status_code == 200 and status.json()["ports"] == 2
        assert (await client.get("/edges/berlin/v1/tables/none")).json()["detail"].startswith("'none'; the tables are")
        page = await client.get("/edges/berlin/")
        assert page.status_code == 200 and "page/main.js" in page.text
        changed = await client.post("/edges/berlin/v1/reload", json={})
        assert changed.status_code == 200
        # What is changed at an edge is told by its events.
        assert [each.event.text for each in berlin.events.since(0) if each.event.kind == "api.changed"] == [
            "POST /edges/berlin/v1/reload: 200, from a test"
        ]
        for path, status_code, detail in (
            ("/v1/status", 404, "this controller stands for several; name one by `wayname --edge NAME`"),
            ("/edges/bonn/v1/status", 404, "'bonn'; those of this controller are berlin, hamburg"),
            ("/edges/hamburg/v1/status", 503, "edge hamburg: no switch"),
        ):
            answer = await client.get(path)
            assert (answer.status_code, detail in answer.json()["detail"]) == (status_code, True), answer.text
        assert (await client.get("/v1/edges")).json() == [
            {
                **NOTHING,
                "edge": "berlin",
                "runs": True,
                "connected": True,
                "providers": 1,
                "providers_used": 1,
                "why": "provider a: 2001:db8:1::1 was not heard yet",
            },
            {**NOTHING, "edge": "hamburg", "restarts": 3, "why": "no switch"},
        ]
        # The page of all edges shows the same.
        assert "page/edges.js" in (await client.get("/")).text
        assert (await client.get("/page/edges")).json() == (await client.get("/v1/edges")).json()
        assert (await client.get("/page/edges.js")).status_code == 200


async def test_each_number_says_of_which_edge_it_is() -> None:
    two = Two()
    two.running["hamburg"] = OneOf()
    async with two.client() as client:
        text = (await client.get("/metrics")).text
        assert text.count("# TYPE wayname_switch_connected gauge") == 1
        wanted = {
            'wayname_switch_connected{edge="berlin"} 1.0',
            'wayname_switch_connected{edge="hamburg"} 1.0',
            'wayname_port_received_packets_total{edge="hamburg",name="port1",port="1"} 0.0',
            'wayname_edge_runs{edge="hamburg"} 1.0',
            'wayname_edge_restarts_total{edge="hamburg",reason="SwitchError"} 3.0',
        }
        assert not wanted - set(text.splitlines())
        # Of one edge it is as ever.
        assert "\nwayname_switch_connected 1.0\n" in (await client.get("/edges/berlin/metrics")).text


async def test_who_may_not_ask_learns_nothing_of_edges() -> None:
    two = Two()
    stranger = Peer("a process", 1, LocalUser(os.geteuid() + 1, frozenset()))
    async with two.client(stranger) as client:
        for path in ("/v1/edges", "/metrics", "/edges/berlin/v1/status", "/edges/bonn/v1/status", "/v1/status"):
            answer = await client.get(path)
            assert answer.status_code == 403 and "berlin" not in answer.text, answer.text
    assert {kind for kind, _ in two.audited} == {"api.refused"}


async def test_roles_are_of_edges() -> None:
    two = Two()
    two.running["hamburg"] = OneOf()
    token, digest = "a token", sha256(b"a token").hexdigest()
    allowed = ApiToken(name="ops", roles=(Role.OPERATE,), edges=("berlin",), sha256=digest)
    two.config = replace(two.config, api=two.config.api.model_copy(update={"token": (allowed,)}))
    async with two.client(Peer("far", 1)) as client:
        client.headers["Authorization"] = f"Bearer {token}"
        assert (await client.get("/edges/berlin/v1/status")).status_code == 200
        assert (await client.post("/edges/berlin/v1/reload", json={})).status_code == 200
        for method, path, role in (("GET", "status", "read"), ("POST", "reload", "operate")):
            refused = await client.request(method, f"/edges/hamburg/v1/{path}")
            assert refused.status_code == 403
            assert f"token ops has not the role {role} for edge hamburg" in refused.json()["detail"]
        # What is of no single edge tells of his alone.
        assert [each["edge"] for each in (await client.get("/v1/edges")).json()] == ["berlin"]
        assert (await client.get("/page/edges")).json() == (await client.get("/v1/edges")).json()
        for path in ("/metrics", "/v1/status", "/edges/bonn/v1/status"):
            text = (await client.get(path)).text
            assert "berlin" in text and "hamburg" not in text
        # Nor does he change it. Who looks after hamburg reads in its events that he tried.
        refused = await client.post("/v1/reload", json={})
        assert refused.status_code == 403 and "for all edges: see its `edges`" in refused.json()["detail"]
        hamburg = two.running["hamburg"].controller.events.since(0)
        assert "POST /edges/hamburg/v1/reload: needs the role operate, from far" in [
            each.event.text for each in hamburg
        ]
        # An edge that does not run here is an edge.
        del two.running["hamburg"]
        assert (await client.get("/edges/hamburg/v1/status")).status_code == 403
    allowed = allowed.model_copy(update={"edges": None})
    two.config = replace(two.config, api=two.config.api.model_copy(update={"token": (allowed,)}))
    async with two.client(Peer("far", 1)) as client:
        client.headers["Authorization"] = f"Bearer {token}"
        assert (await client.get("/edges/hamburg/v1/status")).status_code == 503
        assert (await client.post("/v1/reload", json={})).json() == {"changed": ["api.token"]}
    assert two.reloads == 1
