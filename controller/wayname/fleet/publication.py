"""The configuration of a fleet in etcd: what people wrote, version by version, and what each edge gets of it."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from wayname.fleet.etcd import CHANGES_AT_ONCE, ChangedAt, Delete, Etcd, EtcdError, KeyValue, Operation, Put
from wayname.fleet.keys import FleetKeys
from wayname.fleet.sealing import FORM, Seal, refusal


class OutdatedError(Exception):
    """Somebody else applied a version meanwhile."""


class NewerFormError(Exception):
    """What a newer release wrote, in one line."""


@dataclass(frozen=True, slots=True)
class Version:
    """What people wrote at a time: at which version each file was changed last."""

    number: int
    files: Mapping[str, int]
    at: float
    message: str


@dataclass(frozen=True, slots=True)
class Changes:
    """What a version changed: the files that it wrote, and those that the one before had and it has not."""

    version: Version
    changed: tuple[str, ...]
    removed: tuple[str, ...]

    @classmethod
    def since(cls, before: Version | None, version: Version) -> Changes:
        """Return what a version changed since the one before."""
        changed = sorted(name for name, number in version.files.items() if number == version.number)
        removed = sorted(before.files.keys() - version.files.keys()) if before else []
        return cls(version, tuple(changed), tuple(removed))


@dataclass(frozen=True, slots=True)
class Published:
    """What an edge gets: of which version, and its text."""

    version: int
    text: str = field(repr=False)


class Publication:
    """Reads and writes it; texts are sealed."""

    def __init__(self, etcd: Etcd, keys: FleetKeys, seal: Seal) -> None:
        self._etcd = etcd
        self._keys = keys
        self._seal = seal

    async def current(self) -> Version | None:
        """Return the version that holds, if there is one."""
        found = await self._etcd.get(self._keys.current_version)
        return _version(found) if found else None

    async def history(self) -> list[Changes]:
        """Return all versions with what each changed, the last one first."""
        _, found = await self._etcd.below(self._keys.versions)
        versions = sorted(map(_version, found), key=lambda each: each.number)
        return [Changes.since(*pair) for pair in zip([None, *versions], versions, strict=False)][::-1]

    async def files(self, version: Version | None) -> dict[str, str]:
        """Return the texts of a version's files."""
        texts: dict[str, str] = {}
        for name, changed in version.files.items() if version else ():
            key = self._keys.file(name, changed)
            found = await self._etcd.get(key)
            if found is None:
                raise EtcdError(f"{key.decode()} is not in etcd any more; apply a folder anew")
            texts[name] = self._seal.open(key, found.value).decode()
        return texts

    async def published(self) -> dict[str, Published]:
        """Return what each edge gets now, by its name."""
        _, found = await self._etcd.below(self._keys.configurations)
        return {
            self._keys.edge_of_configuration(each.key): open_published(self._seal, each.key, each.value)
            for each in found
        }

    async def publish(
        self, texts: Mapping[str, str], by_edge: Mapping[str, str], message: str, before: Version | None
    ) -> Version:
        """Have these files hold from now on, and edges get theirs; raise `OutdatedError` if `before` holds no more."""
        number = before.number + 1 if before else 1
        known = await self.files(before)
        changed = {name for name, text in texts.items() if known.get(name) != text}
        files = {name: number if name in changed or before is None else before.files[name] for name in texts}
        version = Version(number, files, time.time(), message)
        written: list[Operation] = []
        for name in sorted(changed):
            key = self._keys.file(name, number)
            written.append(Put(key, self._seal.close(key, texts[name].encode())))
        await self._write(written)
        # From here on it holds; edges get it in any order, and who applies it again writes what is missing.
        octets = _octets(version)
        current = self._keys.current_version
        found = await self._etcd.get(current)
        if (_version(found).number if found else 0) != number - 1:
            raise OutdatedError
        done = await self._etcd.transact(
            [ChangedAt(current, found.changed if found else 0)],
            Put(current, octets),
            Put(self._keys.version(number), octets),
        )
        if not done.succeeded:
            raise OutdatedError
        await self.hand_out(by_edge, number)
        return version

    async def hand_out(self, by_edge: Mapping[str, str], number: int) -> list[str]:
        """Have edges get these texts; return those whose text changed."""
        published = await self.published()
        written: list[Operation] = []
        changed = [
            *(edge for edge in published if edge not in by_edge),
            *(edge for edge, text in by_edge.items() if edge not in published or published[edge].text != text),
        ]
        for edge in changed:
            key = self._keys.configuration(edge)
            if edge in by_edge:
                value = json.dumps({"version": number, "text": by_edge[edge]}).encode()
                written.append(Put(key, self._seal.close(key, value)))
            else:
                written.append(Delete(key))
        await self._write(written)
        return sorted(changed)

    async def _write(self, operations: Sequence[Operation]) -> None:
        for at in range(0, len(operations), CHANGES_AT_ONCE):
            await self._etcd.transact([], *operations[at : at + CHANGES_AT_ONCE])


def open_published(seal: Seal, key: bytes, sealed: bytes) -> Published:
    """Read what an edge gets."""
    value = json.loads(seal.open(key, sealed))
    return Published(int(value["version"]), str(value["text"]))


def _octets(version: Version) -> bytes:
    return json.dumps(
        {
            "form": FORM,
            "number": version.number,
            "files": dict(version.files),
            "at": version.at,
            "message": version.message,
        }
    ).encode()


def _version(found: KeyValue) -> Version:
    value = json.loads(found.value)
    if value["form"] > FORM:
        raise NewerFormError(refusal(found.key.decode(), value["form"]))
    return Version(value["number"], value["files"], value["at"], value["message"])
