"""The commands' side of the API."""

from __future__ import annotations

import contextlib
import json
import ssl
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx

from wayname.cli.failure import Failure
from wayname.cli.options import Credentials
from wayname.config.api_address import ApiAddress, UnixAddress
from wayname.private_files import read_private

Parameters = Mapping[str, str | int | float | bool | None]


def tls_context(credentials: Credentials) -> ssl.SSLContext:
    """Whom to believe over TCP, and what to show."""
    try:
        context = ssl.create_default_context(cafile=credentials.ca)
        if credentials.certificate is not None:
            context.load_cert_chain(credentials.certificate, credentials.key, password=lambda: "")
    except OSError as error:
        names = ", ".join(str(each) for each in (credentials.ca, credentials.certificate, credentials.key) if each)
        raise Failure(f"{names}: {error.strerror or error}; name PEM files with --ca, --cert and --key") from None
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    return context


def read_token(path: Path) -> str:
    """The token in a file that nobody else may read."""
    try:
        octets, wrong = read_private(path)
        token = octets.decode("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise Failure(f"{path}: cannot be read ({reason}); name a file that `wayname token new` wrote") from None
    if wrong:
        raise Failure(f"{path}: {wrong}")
    return token


def async_client(address: ApiAddress, credentials: Credentials) -> httpx.AsyncClient:
    """A client for who asks many things at a time."""
    if isinstance(address, UnixAddress):
        transport = httpx.AsyncHTTPTransport(uds=str(address.path))
        return httpx.AsyncClient(transport=transport, base_url="http://localhost")
    return httpx.AsyncClient(
        transport=httpx.AsyncHTTPTransport(verify=tls_context(credentials)),
        base_url=f"https://{address}",
        headers=authorization(credentials),
    )


def authorization(credentials: Credentials) -> dict[str, str]:
    """The header that says who asks over TCP; none with a client certificate."""
    return {} if credentials.token is None else {"Authorization": f"Bearer {read_token(credentials.token)}"}


class Client:
    """Asks the controller at an address; what goes wrong becomes one line."""

    def __init__(self, address: ApiAddress, credentials: Credentials) -> None:
        self.address = address
        headers: dict[str, str] = {}
        if isinstance(address, UnixAddress):
            transport, base = httpx.HTTPTransport(uds=str(address.path)), "http://localhost"
        else:
            transport, base = httpx.HTTPTransport(verify=tls_context(credentials)), f"https://{address}"
            headers = authorization(credentials)
        self.http = httpx.Client(transport=transport, base_url=base, timeout=30.0, headers=headers)

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
        timeout = httpx.Timeout(30.0, read=None) if endless else httpx.Timeout(30.0)
        try:
            with self.http.stream(method, path, params=given, timeout=timeout, json=body) as response:
                if response.status_code != httpx.codes.OK:
                    response.read()
                    raise Failure(self.problem(response))
                yield response
        except httpx.HTTPError as error:
            raise Failure(self.broken(error)) from None
        except json.JSONDecodeError:
            raise Failure(f"what answers at {self.address} is no wayname controller (its answer is no JSON)") from None

    def broken(self, error: httpx.HTTPError) -> str:
        """Say why there is no answer, or not all of it, and what to do."""
        text = str(error) or type(error).__name__
        if isinstance(error, httpx.TimeoutException):
            return f"the controller at {self.address} did not answer within 30 s; its log may say why"
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

    def problem(self, response: httpx.Response) -> str:
        """What an answer says went wrong."""
        try:
            problem = response.json()
            return f"{problem['title']}: {problem['detail']}"
        except (ValueError, KeyError, TypeError):
            return f"what answers at {self.address} is no wayname controller (HTTP status {response.status_code})"
