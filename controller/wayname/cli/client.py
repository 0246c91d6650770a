"""The commands' side of the API."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

import httpx

from wayname.cli.failure import Failure
from wayname.config.api_address import ApiAddress, UnixAddress

Parameters = Mapping[str, str | int | float | bool | None]


class Client:
    """Asks the controller at an address; what goes wrong becomes one line."""

    def __init__(self, address: ApiAddress) -> None:
        self.address = address
        if isinstance(address, UnixAddress):
            transport, base = httpx.HTTPTransport(uds=str(address.path)), "http://localhost"
        else:
            transport, base = httpx.HTTPTransport(), f"http://{address}"
        self.http = httpx.Client(transport=transport, base_url=base, timeout=30.0)

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
        except httpx.ConnectError:
            raise Failure(
                f"no controller answers at {self.address}: start it with `wayname up --config FILE`,"
                " or say where it is with --api or WAYNAME_API"
            ) from None
        except httpx.TimeoutException:
            raise Failure(f"the controller at {self.address} did not answer within 30 s; its log may say why") from None
        except httpx.HTTPError as error:
            raise Failure(f"the controller at {self.address} broke off ({error or type(error).__name__})") from None
        except json.JSONDecodeError:
            raise Failure(f"what answers at {self.address} is no wayname controller (its answer is no JSON)") from None

    def problem(self, response: httpx.Response) -> str:
        """What an answer says went wrong."""
        try:
            problem = response.json()
            return f"{problem['title']}: {problem['detail']}"
        except (ValueError, KeyError, TypeError):
            return f"what answers at {self.address} is no wayname controller (HTTP status {response.status_code})"
