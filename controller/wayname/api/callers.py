"""Who asks: a user of this machine, who has a token, or who has a client certificate."""

from __future__ import annotations

import grp
import hmac
import os
from collections.abc import Hashable
from dataclasses import dataclass
from hashlib import sha256

from starlette.datastructures import Headers

from wayname.config.api import ApiConfig, Role

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
    roles: frozenset[Role]
    # Who owns the process is not bounded: he could end it as well.
    is_owner: bool = False

    def may(self, role: Role) -> bool:
        """Whether he has a role; each role lets its owner look."""
        return role in self.roles or (role is Role.READ and bool(self.roles))


class NotKnown(Exception):
    """It cannot be told who asks; the text says how to say it."""


def caller_of(peer: Peer, headers: Headers, api: ApiConfig) -> Caller:
    """Tell who asks, or raise `NotKnown`."""
    return _local(peer.user, api) if peer.user else _remote(peer, headers, api)


def _local(user: LocalUser, api: ApiConfig) -> Caller:
    roles = {role for each in api.group if _gid(each.name) in user.groups for role in each.roles}
    return Caller(f"user {user.uid}", frozenset(Role) if user.is_owner else frozenset(roles), user.is_owner)


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
        return Caller(f"token {found[0].name}", frozenset(found[0].roles))
    for each in api.client:
        if each.name in peer.names:
            return Caller(f"certificate {each.name}", frozenset(each.roles))
    if peer.names:
        raise NotKnown(f"no [[api.client]] has a name of the certificate ({', '.join(sorted(peer.names))})")
    raise NotKnown("send a token (`wayname --token-file FILE`), or a client certificate")
