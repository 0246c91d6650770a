"""What a configuration says of the fleet that an edge belongs to: several controllers, and etcd as their one truth."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from wayname.config.api_address import HOST_AND_PORT
from wayname.config.checks import FilePath
from wayname.config.tables import Mistake, Site, Table, between, count, mistake, twice
from wayname.config.tls import Tls

MOST_ENDPOINTS = 9
# Of one process.
MOST_EDGES = 10_000
# Names are parts of etcd's keys, which roles are given by.
FLEET_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def _read_endpoint(text: str) -> str:
    found = HOST_AND_PORT.fullmatch(text)
    if not found or not 0 < int(found["port"]) < 65536:
        raise mistake(f"is {text!r}", "write HOST:PORT as in etcd1.example.org:2379, an IPv6 address in brackets")
    return text


def _read_name(name: str) -> str:
    if not FLEET_NAME.fullmatch(name):
        raise mistake(f"is {name!r}", "write up to 64 letters, digits, '.', '_' and '-', no '/'")
    return name


def _read_prefix(prefix: str) -> str:
    for part in prefix.strip("/").split("/"):
        _read_name(part)
    return prefix.strip("/")


_MEND_EDGE = "name the edge of this controller as edge, or several as edges"

FleetName = Annotated[str, AfterValidator(_read_name)]


class FleetAccess(Table):
    """Where etcd is, and what secures it: enough for somebody who controls no edge."""

    endpoints: Annotated[tuple[Annotated[str, AfterValidator(_read_endpoint)], ...], count(1, MOST_ENDPOINTS)]
    # A controller has one of them. Each of `edges` has a configuration in etcd, and one of its own that names it as
    # `edge`.
    edge: FleetName = ""
    edges: Annotated[tuple[FleetName, ...], count(1, MOST_EDGES, " edges")] = ()
    # This controller among those of the edge.
    controller: FleetName = Field(default_factory=lambda: socket.gethostname())
    prefix: Annotated[str, AfterValidator(_read_prefix)] = "wayname"
    # What seals state and secrets of sessions before etcd has them: made by `wayname fleet key`.
    sealing_key: FilePath
    # Seconds without a sign of life after which another controller is elected; etcd may grant more.
    lease: Annotated[int, between(1, 60)] = 1
    ca: FilePath | None = None
    certificate: FilePath | None = None
    key: FilePath | None = None

    @property
    def tls(self) -> Tls | None:
        """How the way to etcd is secured."""
        return Tls(self.ca, self.certificate, self.key, "fleet") if self.ca else None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.edge and self.edges:
            raise mistake("is there beside edges", _MEND_EDGE, "edge")
        if self.ca is None and (self.certificate or self.key):
            raise mistake("is missing", "name the authority of etcd's certificates beside certificate and key", "ca")
        if (self.certificate is None) != (self.key is None):
            missing = "certificate" if self.certificate is None else "key"
            raise mistake("is missing", "certificate and key go together", missing)
        if self.ca is None and not all(map(_is_loopback, self.endpoints)):
            mend = "etcd on another machine is asked over TLS alone: name the authority of its certificates"
            raise mistake("is missing", mend, "ca")
        return self


class Fleet(FleetAccess):
    """What a controller has of it: which edge this is there, or which edges."""

    @model_validator(mode="after")
    def _check_edge(self) -> Self:
        if not self.edge and not self.edges:
            raise mistake("is missing", _MEND_EDGE, "edge")
        return self


def check_fleet(fleet: FleetAccess, site: Site) -> Iterator[Mistake]:
    """Yield endpoints that are there twice, and what a single controller keeps in files of its own."""
    for each in twice(fleet.endpoints, "", "name every member of etcd once"):
        yield Mistake(("endpoints", each.where[0]), each.wrong, each.mend)
    for each in twice(fleet.edges, "", "name every edge once"):
        yield Mistake(("edges", each.where[0]), each.wrong, each.mend)
    if site.config.controller.changes is not None:
        wrong = "another controller of the edge does not have controller.changes"
        mend = "leave controller.changes out, and write what is to stay into the configuration"
        yield Mistake(("edge",), wrong, mend)


def _is_loopback(endpoint: str) -> bool:
    found = HOST_AND_PORT.fullmatch(endpoint)
    if found is None or found["name"] == "localhost":
        return True
    try:
        return ip_address(found["number"] or found["name"]).is_loopback
    except ValueError:
        return False
