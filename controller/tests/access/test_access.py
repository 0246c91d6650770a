"""Who may ask the API over TLS: tokens, certificates, roles, rates, and what is told of it."""

from __future__ import annotations

import asyncio
import contextlib
import grp
import os
import ssl
import sys
import tempfile
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest
from access.certificates import Authority
from access.edge import SITE, TOKENS, SecuredEdge
from served import Served, asked_by
from starlette.routing import Route

from wayname.adapter import ReloadError
from wayname.api import access, server
from wayname.api.access import Access
from wayname.api.app import edge_app, make_app
from wayname.api.callers import ROOT, LocalUser, Peer
from wayname.api.guard import BrowserGuard
from wayname.api.listeners import AddressError, open_listeners, reread, socket_mode
from wayname.api.rates import MOST_KEYS, RateLimiter
from wayname.api.request_limits import RequestLimits
from wayname.api.roles import role_of
from wayname.api.server import serve
from wayname.composition.configuration import parse_config
from wayname.config.api import Role
from wayname.config.tables import ConfigError
from wayname.token_buckets import Rate

PATIENCE = 30.0
NOBODY = 65534
PAIR = 'certificate = "c"\nkey = "k"\n'
ASK = """
import os, socket, sys
path, user, *groups = sys.argv[1:]
os.setgroups([int(each) for each in groups])
os.setgid(int(user))
os.setuid(int(user))
with socket.socket(socket.AF_UNIX) as api:
    api.connect(path)
    api.sendall(b"GET /v1/status HTTP/1.1\\r\\nHost: api\\r\\nConnection: close\\r\\n\\r\\n")
    print(api.recv(64).decode("ascii", "replace"))
"""
# Methods, paths and bodies that do something, each with the role that it needs.
ASKED = [
    ("GET", "/v1/status", None, Role.READ),
    ("GET", "/metrics", None, Role.READ),
    ("GET", "/openapi.json", None, Role.READ),
    ("GET", "/v1/events", None, Role.READ),
    ("POST", "/v1/reload", {}, Role.OPERATE),
    ("POST", "/v1/capture", {"port": 1, "seconds": 0.01}, Role.CAPTURE),
]


@pytest.fixture
async def edge(tmp_path: Path) -> AsyncIterator[SecuredEdge]:
    made = SecuredEdge(tmp_path)
    async with made.running():
        yield made


def test_every_route_says_which_role_it_needs(tmp_path: Path) -> None:
    edge = SecuredEdge(tmp_path)
    limits = make_app(edge.served, edge.served.beside)
    assert isinstance(limits, RequestLimits)
    assert isinstance(limits.app, BrowserGuard)
    assert isinstance(limits.app.app, Access)
    routes = [route for route in edge_app(edge.served, edge.served.beside).routes if isinstance(route, Route)]
    assert len(routes) > 40
    for route in routes:
        role = role_of(route)
        assert role is not None, route.path
        # Nothing that only looks changes something, so whoever may look may not do more than that.
        assert (role is Role.READ) == (route.methods is not None and "GET" in route.methods), route.path


@pytest.mark.parametrize("token", TOKENS)
async def test_who_operates_may_send_a_packet_to_trace(edge: SecuredEdge, token: str) -> None:
    async with edge.client(token) as client:
        response = await client.post("/v1/trace", json={"source": "2001:db8::1", "destination": "2001:db8::2"})
        # Nobody has been heard that has the address.
        assert response.status_code == (404 if Role.OPERATE in TOKENS[token] else 403)


@pytest.mark.parametrize("token", TOKENS)
async def test_roles(edge: SecuredEdge, token: str) -> None:
    allowed = {Role(role) for role in TOKENS[token]} | {Role.READ}
    async with edge.client(token) as client:
        for method, path, body, role in ASKED:
            response = await client.request(method, path, json=body)
            assert response.status_code == (200 if role in allowed else 403), (path, response.text)
    refused = [text.partition(":")[0] for _, text in edge.told("api.refused")]
    assert refused == [f"{method} {path}" for method, path, _, role in ASKED if role not in allowed]
    changed = [(who, text.partition(",")[0]) for who, text in edge.told("api.changed")]
    assert changed == [
        (f"token {token}", f"{method} {path}: 200")
        for method, path, _, role in ASKED
        if role in allowed and method == "POST"
    ]


@pytest.mark.parametrize("header", [None, "Bearer", "Bearer nobody's", "Basic bG9va2Vy", "looker", "Bearer \xff"])
async def test_who_is_not_known_learns_nothing_and_reads_how_to_ask(edge: SecuredEdge, header: str | None) -> None:
    headers = httpx.Headers([] if header is None else [(b"Authorization", header.encode("latin-1"))])
    async with edge.client() as client:
        for path in ("/v1/status", "/openapi.json", "/v1/no-such-thing", "/"):
            response = await client.get(path, headers=headers)
            assert response.status_code == 401
            assert response.headers["content-type"] == "application/problem+json"
            assert response.headers["www-authenticate"] == "Bearer"
            assert "token" in response.json()["detail"] or "Bearer" in response.json()["detail"]
        body = b" " * 2**20
        assert (await client.post("/v1/encapsulation", content=body, headers=headers)).status_code == 401


async def test_a_certificate_is_its_names_roles(edge: SecuredEdge) -> None:
    async with edge.client(None, edge.authority.issue("ops.example")) as client:
        assert (await client.post("/v1/reload", json={})).status_code == 200
        assert (await client.post("/v1/capture", json={"port": 1})).status_code == 403
    assert [who for who, _ in edge.told("api.changed")] == ["certificate ops.example"]
    async with edge.client(None, edge.authority.issue("other.example")) as client:
        response = await client.get("/v1/status")
        assert (response.status_code, "other.example" in response.json()["detail"]) == (401, True)


@pytest.mark.parametrize("kind", ["expired", "of another authority"])
async def test_a_certificate_that_is_no_good_gets_no_tls(edge: SecuredEdge, tmp_path: Path, kind: str) -> None:
    authority = edge.authority if kind == "expired" else Authority(tmp_path, "another")
    pair = authority.issue("ops.example", expired=kind == "expired")
    async with edge.client(None, pair) as client:
        with pytest.raises(httpx.TransportError):
            await client.get("/v1/status")
    async with edge.client("looker") as client:
        assert (await client.get("/v1/status")).status_code == 200
    [(_, text)] = edge.told("api.refused")
    assert text.startswith("TLS: CERTIFICATE_VERIFY_FAILED, from 127.0.0.1 port ")


async def test_older_tls_and_no_tls_are_refused(edge: SecuredEdge) -> None:
    context = edge.context()
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    with pytest.raises((ssl.SSLError, ConnectionError)):
        await asyncio.open_connection("127.0.0.1", edge.port, ssl=context)
    reader, writer = await asyncio.open_connection("127.0.0.1", edge.port)
    writer.write(b"GET /v1/status HTTP/1.1\r\nHost: edge\r\nAuthorization: Bearer looker\r\n\r\n")
    async with asyncio.timeout(PATIENCE):
        with contextlib.suppress(ConnectionError):
            assert b"HTTP" not in await reader.read()
    writer.close()


async def test_who_says_nothing_in_tls_keeps_nobody_waiting(edge: SecuredEdge) -> None:
    silent = [await asyncio.open_connection("127.0.0.1", edge.port) for _ in range(8)]
    async with edge.client("looker") as client:
        assert (await client.get("/v1/status")).status_code == 200
    for _, writer in silent:
        writer.close()


async def test_tokens_that_are_tried_are_refused_at_a_rate_and_the_right_one_goes_on(edge: SecuredEdge) -> None:
    async with edge.client() as wrong, edge.client("looker") as right:
        statuses = []
        for number in range(40):
            headers = {"Authorization": f"Bearer {number}"}
            statuses.append((await wrong.get("/v1/status", headers=headers)).status_code)
        assert (await right.get("/v1/status")).status_code == 200
    # The clock of the rig stands, so no token comes back.
    assert statuses == [401] * 10 + [429] * 30
    assert len(edge.told("api.refused")) == 10
    assert not any(f"Bearer {number}" in text for number in range(40) for _, text in edge.told("api.refused"))


async def test_a_caller_has_a_rate_of_his_own(edge: SecuredEdge) -> None:
    async with edge.client("looker") as first, edge.client("operator") as second:
        statuses = [(await first.get("/v1/hosts")).status_code for _ in range(int(access.CALLS[0].burst) + 1)]
        assert (set(statuses[:-1]), statuses[-1]) == ({200}, 429)
        assert (await second.get("/v1/hosts")).status_code == 200


def test_the_memory_of_rates_does_not_grow() -> None:
    limiter = RateLimiter(Rate(1, 1), Rate(1e9, 1e9))
    assert all(limiter.may(number, 0.0) for number in range(3 * MOST_KEYS))
    assert len(limiter) == MOST_KEYS


async def test_handshakes_have_a_rate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "HANDSHAKES", (Rate(0, 2), Rate(0, 2)))
    edge = SecuredEdge(tmp_path)
    async with edge.running():
        for _ in range(2):
            async with edge.client("looker") as client:
                assert (await client.get("/v1/status")).status_code == 200
        async with edge.client("looker") as client:
            with pytest.raises(httpx.TransportError):
                await client.get("/v1/status")


@pytest.mark.parametrize(("uid", "of_group", "status"), [(ROOT, False, 200), (4711, True, 200), (4711, False, 403)])
async def test_users_of_the_machine(uid: int, of_group: bool, status: int) -> None:
    group = grp.getgrall()[-1]
    served = Served(f'[[api.group]]\nname = "{group.gr_name}"\nroles = ["read"]\n{SITE}')
    assert socket_mode(served.config.api) == 0o666
    user = LocalUser(uid, frozenset([group.gr_gid] if of_group else []))
    app = asked_by(Peer("a process", uid, user), make_app(served, served.beside))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
        response = await client.get("/v1/status")
        assert response.status_code == status, response.text
        # Who has no group reads what to do; a group that may look may not change anything.
        assert status == 200 or "[[api.group]]" in response.json()["detail"]
        response = await client.post("/v1/reload", json={})
        assert response.status_code == (200 if uid == ROOT else 403)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that other users may look into."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.mark.skipif(os.geteuid() != ROOT, reason="needs root, to ask as another user")
async def test_the_kernel_says_which_user_asks(open_folder: Path) -> None:
    group, path = grp.getgrall()[-1], open_folder / "api"
    served = Served(f'api.socket = "unix:{path}"\n[[api.group]]\nname = "{group.gr_name}"\nroles = ["read"]\n{SITE}')
    app, beside = make_app(served, served.beside), served.beside
    task = asyncio.create_task(serve(app, open_listeners(served.config.api), 16, beside.audit, beside.end_streams))
    statuses = []
    for groups in ([str(group.gr_gid)], []):
        command = (sys.executable, "-c", ASK, str(path), str(NOBODY), *groups)
        asking = await asyncio.create_subprocess_exec(*command, stdout=PIPE)
        out, _ = await asyncio.wait_for(asking.communicate(), PATIENCE)
        statuses.append(out.split()[1])
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    assert statuses == [b"200", b"403"]


async def test_a_renewed_certificate_is_shown_after_a_reload(edge: SecuredEdge) -> None:
    async def shown() -> bytes | None:
        _, writer = await asyncio.open_connection("127.0.0.1", edge.port, ssl=edge.context())
        certificate: bytes | None = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        writer.close()
        return certificate

    before = await shown()
    certificate, _ = edge.authority.issue("edge.example", file="edge")
    assert before == await shown()
    reread(edge.listeners, edge.config.api)()
    after = await shown()
    assert before != after
    certificate.write_text("none")
    with pytest.raises(ReloadError, match=r"api.certificate: .*edge.pem .* name a pair"):
        reread(edge.listeners, edge.config.api)
    assert after == await shown()


def test_files_that_are_no_good_are_one_line_and_nothing_listens(tmp_path: Path) -> None:
    edge = SecuredEdge(tmp_path)
    (tmp_path / "edge.key").chmod(0o644)
    with pytest.raises(AddressError, match=r"key: .*edge.key others may read or change it \(mode 0644\); `chmod 600`"):
        open_listeners(edge.config.api)
    assert not (tmp_path / "api").exists()
    (tmp_path / "edge.key").unlink()
    with pytest.raises(AddressError, match=r"key: .*edge.key cannot be read \(No such file"):
        open_listeners(edge.config.api)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('listen = "127.0.0.1:9580"', "api.certificate: is missing; the API is on TCP only with TLS"),
        (PAIR + 'listen = "0.0.0.0:9580"', "api.listen: nobody may ask at 0.0.0.0:9580; `wayname token new NAME`"),
        (
            PAIR + 'listen = "[::1]:9580"\n[[api.client]]\nname = "a"\nroles = ["read"]',
            "api.client_ca: is missing",
        ),
        (PAIR, "api.certificate: is for TCP alone; write listen"),
        (
            '[[api.token]]\nname = "a"\nroles = ["read"]\nsha256 = "my token"',
            "api.token[0].sha256: is no SHA-256",
        ),
        ('[[api.group]]\nname = "no such group"\nroles = ["read"]', "api.group[0].name: this machine has no group"),
        ('[[api.group]]\nname = "root"\nroles = []', "api.group[0].roles: has 0; write 1 to 3 roles"),
        (
            '[[api.group]]\nname = "root"\nroles = ["read"]\nedges = ["a"]',
            "api.group[0].edges: is for processes of a fleet; leave edges out",
        ),
        ('[[api.group]]\nname = "root"\nroles = ["admin"]', "api.group[0].roles[0]: is 'admin'; write one of"),
        ('listen = "unix:/a"', "api.listen: is 'unix:/a'; write HOST:PORT"),
    ],
)
def test_mistakes_in_the_configuration(text: str, says: str) -> None:
    with pytest.raises(ConfigError) as error:
        parse_config(f"[api]\n{text}\n")
    assert says in str(error.value)
    assert "my token" not in str(error.value)
