"""Who may ask the API, and where."""

from __future__ import annotations

import grp
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from wayname.config.api_address import HOST_AND_PORT, default_address
from wayname.config.checks import FilePath, Name, check_path
from wayname.config.fleet import MOST_EDGES, Fleet, FleetName
from wayname.config.tables import WORD, Mistake, Site, Table, count, mistake, twice


class Role(StrEnum):
    """What somebody may do: look, change things, see the packets of hosts. Who may more may look as well."""

    READ = "read"
    OPERATE = "operate"
    CAPTURE = "capture"


def _read_socket(text: str) -> str:
    if not text.startswith("unix:/"):
        mend = 'write "unix:/PATH"; a TCP address is `listen`, with certificate, key and [[api.token]]'
        raise mistake(f"is {text!r}", mend)
    return check_path(text)


def _read_tcp(text: str) -> str:
    found = HOST_AND_PORT.fullmatch(text)
    if not found or not 0 < int(found["port"]) < 65536:
        raise mistake(f"is {text!r}", "write HOST:PORT, an IPv6 address in brackets; a Unix socket is `socket`")
    return text


def _read_hash(text: str) -> str:
    if not re.fullmatch("[0-9a-f]{64}", text):
        # Who wrote the token itself here must not see it in a log.
        raise mistake("is no SHA-256 in 64 hexadecimal digits", "write the line that `wayname token new` printed")
    return text


def _read_group(name: str) -> str:
    try:
        grp.getgrnam(name)
    except KeyError:
        raise mistake(f"this machine has no group {name!r}", f"make it (`groupadd {name}`) or name another") from None
    return name


Roles = Annotated[tuple[Annotated[Role, WORD], ...], count(1, len(Role), " roles")]


class Allowed(Table):
    """Somebody who may ask, and what."""

    name: Name
    roles: Roles
    # Of a process that stands for several edges of a fleet: those that the roles are for, or all.
    edges: Annotated[tuple[FleetName, ...], count(1, MOST_EDGES, " edges")] | None = None


class ApiToken(Allowed):
    """A token that was handed out: not itself, but its hash."""

    sha256: Annotated[str, AfterValidator(_read_hash)] = Field(repr=False)


class ApiClient(Allowed):
    """Somebody with a client certificate, by a name in it."""


class ApiGroup(Allowed):
    """Users of the machine who may ask at the Unix socket."""

    name: Annotated[Name, AfterValidator(_read_group)]


@dataclass(frozen=True, slots=True)
class ApiTls:
    """The files that secure the API on TCP."""

    certificate: Path
    key: Path
    client_ca: Path | None


class ApiConfig(Table):
    """The API: a Unix socket always, TCP only with TLS and with somebody who may ask."""

    socket: Annotated[str, AfterValidator(_read_socket)] = Field(default_factory=lambda: str(default_address()))
    listen: Annotated[str, AfterValidator(_read_tcp)] | None = None
    certificate: FilePath | None = None
    key: FilePath | None = None
    # The authority of certificates of clients.
    client_ca: FilePath | None = None
    token: tuple[ApiToken, ...] = ()
    client: tuple[ApiClient, ...] = ()
    group: tuple[ApiGroup, ...] = ()

    @property
    def tls(self) -> ApiTls | None:
        """How TCP is secured, if the API is there."""
        if self.listen is None or self.certificate is None or self.key is None:
            return None
        return ApiTls(self.certificate, self.key, self.client_ca)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.listen is None:
            for name in ("certificate", "key", "client_ca", "token", "client"):
                if getattr(self, name):
                    raise mistake("is for TCP alone", "write listen = HOST:PORT beside it, or leave it out", name)
            return self
        for name in ("certificate", "key"):
            if getattr(self, name) is None:
                mend = "the API is on TCP only with TLS: name PEM files as certificate and key, or leave out listen"
                raise mistake("is missing", mend, name)
        if self.client and self.client_ca is None:
            raise mistake("is missing", "name the authority that signs certificates of [[api.client]]", "client_ca")
        if not self.token and not self.client:
            mend = "`wayname token new NAME` prints an [[api.token]]; or name client_ca and [[api.client]]"
            raise mistake(f"nobody may ask at {self.listen}", mend, "listen")
        return self


def check_api(api: ApiConfig, site: Site) -> Iterator[Mistake]:
    """Yield names and tokens that are there twice, and edges that are none of this process."""
    for key in ("token", "client", "group"):
        allowed: tuple[Allowed, ...] = getattr(api, key)
        for each in twice((one.name for one in allowed), "name", "give every entry a name of its own"):
            yield Mistake((key, *each.where), each.wrong, each.mend)
        for index, one in enumerate(allowed):
            yield from _edges_of(one, (key, index), site.config.fleet)
    hashes = [token.sha256 for token in api.token]
    for index, sha256 in enumerate(hashes):
        if sha256 in hashes[:index]:
            yield Mistake(
                ("token", index, "sha256"), "is another's too", "make a token for each with `wayname token new`"
            )


def _edges_of(allowed: Allowed, where: tuple[str | int, ...], fleet: Fleet | None) -> Iterator[Mistake]:
    """Yield edges that nobody can be asked for. A file of many edges is read as that of each of them, too."""
    if allowed.edges is None:
        return
    if fleet is None:
        mend = "leave edges out: an edge has a name in a fleet alone ([fleet])"
        yield Mistake((*where, "edges"), "is for processes of a fleet", mend)
    elif fleet.edges:
        for index, edge in enumerate(allowed.edges):
            if edge not in fleet.edges:
                mend = f"those of [fleet] edges are {', '.join(fleet.edges)}"
                yield Mistake((*where, "edges", index), f"{edge!r} is not one of this process", mend)
