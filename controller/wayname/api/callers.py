"""Who asks: a user of this machine, who has a token, or who has a client certificate."""

from __future__ import annotations

import grp
import hmac
import os
from collections.abc import Hashable
from dataclasses import dataclass
from hashlib import sha256

from starlette.datastructures import Headers

from wayname.config.api import Allowed, ApiConfig, Role

ROOT = 0


@dataclass(frozen=True, slots=True)
class LocalUser:
    """Who is at the other end of a Unix socket, by the kernel."""

    uid: int
    groups: frozenset[int]

    @property
    def is_owner(self) -> bool:
        """Whether it could do with this process what it likes anyway."""
        return self.uid in {ROOT, os.geteuid()}


@dataclass(frozen=True, slots=True)
class Peer:
    """The other end of a connection."""

    where: str
    # Whoever shares it shares places and limits.
    key: Hashable
    user: LocalUser | None = None
    # In its certificate, once TLS has checked it.
    names: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody who is known, and what he may do."""

    name: str
    allowed: tuple[Allowed, ...]
    # Who owns the process is not bounded: he could end it as well.
    is_owner: bool = False

    def may(self, role: Role, edge: str | None) -> bool:
        """Whether he has a role for an edge, or for what is of all; each role lets its owner look.

        What is of all shows him his edges alone, and changes by who has the role for all.
        """
        for each in self.allowed:
            is_for = each.edges is None or edge in each.edges
            if (is_for and role in each.roles) or (role is Role.READ and (is_for or edge is None)):
                return True
        return self.is_owner


class NotKnown(Exception):
    """It cannot be told who asks; the text says how to say it."""


def caller_of(peer: Peer, headers: Headers, api: ApiConfig) -> Caller:
    """Tell who asks, or raise `NotKnown`."""
    return _local(peer.user, api) if peer.user else _remote(peer, headers, api)


def _local(user: LocalUser, api: ApiConfig) -> Caller:
    allowed = tuple(each for each in api.group if _gid(each.name) in user.groups)
    return Caller(f"user {user.uid}", allowed, user.is_owner)


def _gid(name: str) -> int | None:
    try:
        return grp.getgrnam(name).gr_gid
    except KeyError:
        # It was there when the configuration was read.
        return None


def _remote(peer: Peer, headers: Headers, api: ApiConfig) -> Caller:
    if given := headers.get("authorization"):
        kind, _, token = given.partition(" ")
        if kind.lower() != "bearer":
            raise NotKnown("write the header as `Authorization: Bearer TOKEN`")
        digest = sha256(token.strip().encode()).hexdigest()
        # All are compared, each in constant time: how long it takes tells nothing of any.
        found = [each for each in api.token if hmac.compare_digest(each.sha256, digest)]
        if not found:
            raise NotKnown("the token is not one of this API: `wayname token new NAME` makes one")
        return Caller(f"token {found[0].name}", (found[0],))
    for each in api.client:
        if each.name in peer.names:
            return Caller(f"certificate {each.name}", (each,))
    if peer.names:
        raise NotKnown(f"no [[api.client]] has a name of the certificate ({', '.join(sorted(peer.names))})")
    raise NotKnown("send a token (`wayname --token-file FILE`), or a client certificate")
