"""Requests to the API of a controller, and what goes wrong with them in one line."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from typing import Any, Self
from urllib.parse import quote

import httpx

from wayname.client.credentials import Credentials
from wayname.client.errors import ClientError
from wayname.config.api_address import ApiAddress, UnixAddress, default_address, parse_address

Parameters = Mapping[str, str | int | float | bool | None]
SECONDS = 30.0


def async_client(address: ApiAddress, credentials: Credentials, edge: str = "") -> httpx.AsyncClient:
    """A client for who asks many things at a time; of an edge, where the controller stands for several."""
    if isinstance(address, UnixAddress):
        transport = httpx.AsyncHTTPTransport(uds=str(address.path))
        return httpx.AsyncClient(transport=transport, base_url=f"http://localhost{path_of(edge)}")
    return httpx.AsyncClient(
        transport=httpx.AsyncHTTPTransport(verify=credentials.tls_context()),
        base_url=f"https://{address}{path_of(edge)}",
        headers=credentials.headers(),
    )


def path_of(edge: str) -> str:
    """Where the API of one of several edges begins."""
    return f"/edges/{quoted(edge)}" if edge else ""


class Transport:
    """Asks the controller at an address: `unix:PATH` or `HOST:PORT`, else the user's own socket.

    One that stands for several edges is asked of the one that is named.
    """

    def __init__(
        self,
        address: ApiAddress | str | None = None,
        credentials: Credentials = Credentials(),  # noqa: B008 (it is frozen)
        *,
        seconds: float = SECONDS,
        edge: str = "",
    ) -> None:
        self.address = parse_address(address) if isinstance(address, str) else address or default_address()
        self.seconds = seconds
        headers: dict[str, str] = {}
        if isinstance(self.address, UnixAddress):
            transport, base = httpx.HTTPTransport(uds=str(self.address.path)), "http://localhost"
        else:
            transport, base = httpx.HTTPTransport(verify=credentials.tls_context()), f"https://{self.address}"
            headers = credentials.headers()
        self.http = httpx.Client(transport=transport, base_url=base + path_of(edge), headers=headers)

    def __enter__(self) -> Self:
        """Close connections at the end."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close connections."""
        self.close()

    def close(self) -> None:
        """Close connections; a client that is closed asks no more."""
        self.http.close()

    def get(self, path: str, parameters: Parameters | None = None) -> Any:
        """The JSON answer to a question."""
        with self.stream(path, parameters) as response:
            return json.loads(response.read())

    def post(self, path: str, body: object) -> Any:
        """The JSON answer to a wish."""
        with self.stream(path, method="POST", body=body) as response:
            return json.loads(response.read())

    @contextlib.contextmanager
    def stream(
        self,
        path: str,
        parameters: Parameters | None = None,
        *,
        endless: bool = False,
        method: str = "GET",
        body: object = None,
    ) -> Iterator[httpx.Response]:
        """An answer that is read piece by piece; an endless one may pause for as long as it likes."""
        given = {key: value for key, value in (parameters or {}).items() if value is not None}
        timeout = httpx.Timeout(self.seconds, read=None if endless else self.seconds)
        try:
            with self.http.stream(method, path, params=given, timeout=timeout, json=body) as response:
                if response.status_code != httpx.codes.OK:
                    response.read()
                    raise ClientError(self._problem(response))
                yield response
        except httpx.HTTPError as error:
            raise ClientError(self._broken(error)) from None
        except json.JSONDecodeError:
            raise ClientError(
                f"what answers at {self.address} is no wayname controller (its answer is no JSON)"
            ) from None

    def _broken(self, error: httpx.HTTPError) -> str:
        """Say why there is no answer, or not all of it, and what to do."""
        text = str(error) or type(error).__name__
        if isinstance(error, httpx.TimeoutException):
            return f"the controller at {self.address} did not answer within {self.seconds:g} s; its log may say why"
        if "[SSL" in text:
            mend = "name its authority with --ca, and with --cert and --key what it asks of you"
            return f"no TLS with {self.address} ({text.partition('] ')[2] or text}): {mend}"
        if isinstance(error, httpx.ConnectError) and "Permission denied" in text:
            return f"you may not ask at {self.address}: ask as root, or have an [[api.group]] in the configuration"
        if isinstance(error, httpx.ConnectError):
            return (
                f"no controller answers at {self.address}: start it with `wayname up --config FILE`,"
                " or say where it is with --api or WAYNAME_API"
            )
        return f"the controller at {self.address} broke off ({text})"

    def _problem(self, response: httpx.Response) -> str:
        """What an answer says went wrong."""
        try:
            problem = response.json()
            return f"{problem['title']}: {problem['detail']}"
        except (ValueError, KeyError, TypeError):
            return f"what answers at {self.address} is no wayname controller (HTTP status {response.status_code})"


def quoted(value: object) -> str:
    """A value as a part of a path."""
    return quote(str(value), safe="")


def given(wish: Mapping[str, object]) -> dict[str, object]:
    """What was said of a wish; the API knows the rest."""
    return {name: value for name, value in wish.items() if value is not None}
