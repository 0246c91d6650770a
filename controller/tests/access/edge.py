"""A controller in this process whose API listens at a Unix socket and at TCP with TLS, as `wayname up` serves it."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import socket
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
from access.certificates import Authority
from served import Served

from wayname.api.app import make_app
from wayname.api.listeners import Listener, open_listeners
from wayname.api.server import serve
from wayname.config.model import Config

TOKENS = {"looker": ("read",), "operator": ("operate",), "catcher": ("capture",)}
MOST_CONNECTIONS = 64
SITE = """
[[port]]
number = 1
vlan = 10
[[port]]
number = 2
vlan = 20
[[interface]]
vlan = 10
addresses = ["fd00:1::1/64"]
[[interface]]
vlan = 20
addresses = ["2001:db8:1::2/64"]
[[provider]]
name = "a"
prefix = "2001:db8:1:100::/56"
via = ["2001:db8:1::1"]
[[nptv6]]
inside = "fd00:1::/56"
providers = ["a"]
"""


def free_port() -> int:
    """A TCP port of this machine that nobody listens at."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def listed(values: tuple[str, ...]) -> str:
    """A list of texts in TOML."""
    return "[" + ", ".join(f'"{value}"' for value in values) + "]"


class SecuredEdge:
    """Its files, its tokens, and clients of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.authority = Authority(folder)
        self.authority.issue("edge.example", file="edge")
        self.served = Served(self.configuration())
        self.listeners: list[Listener] = []

    def configuration(self) -> str:
        """What it is configured with."""
        lines = ["[api]", f'socket = "unix:{self.folder}/api"', f'listen = "127.0.0.1:{self.port}"']
        lines += [f'certificate = "{self.folder}/edge.pem"', f'key = "{self.folder}/edge.key"']
        lines += [f'client_ca = "{self.authority.path}"']
        for name, roles in TOKENS.items():
            digest = hashlib.sha256(name.encode()).hexdigest()
            lines += ["[[api.token]]", f'name = "{name}"', f"roles = {listed(roles)}", f'sha256 = "{digest}"']
        lines += ["[[api.client]]", 'name = "ops.example"', 'roles = ["operate"]']
        return "\n".join(lines) + SITE

    @property
    def config(self) -> Config:
        """It, read."""
        return self.served.config

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve while this lasts."""
        self.listeners = open_listeners(self.config.api)
        app = make_app(self.served, self.served.beside)
        beside = self.served.beside
        task = asyncio.create_task(serve(app, self.listeners, MOST_CONNECTIONS, beside.audit, beside.end_streams))
        try:
            yield
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    def context(self, pair: tuple[Path, Path] | None = None) -> ssl.SSLContext:
        """What a client of it believes, and shows."""
        context = ssl.create_default_context(cafile=self.authority.path)
        if pair:
            context.load_cert_chain(pair[0], pair[1])
        return context

    def client(self, token: str | None = None, pair: tuple[Path, Path] | None = None) -> httpx.AsyncClient:
        """A client over TLS."""
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        base = f"https://127.0.0.1:{self.port}"
        return httpx.AsyncClient(verify=self.context(pair), base_url=base, headers=headers, timeout=30)

    def told(self, kind: str) -> list[tuple[str, str]]:
        """Subjects and texts of its events of a kind."""
        events = [recorded.event for recorded in self.served.events.since(0)]
        return [(event.subject, event.text) for event in events if event.kind == kind]
