"""Private keys of an edge that its controllers have in common: who leads first makes them, and the others get them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from wayname.edge.boundary import Json, Persist
from wayname.identity.key_files import KeyFileError, make_folder
from wayname.private_files import read_private, write_private

_FILE = "key-file"


def fetch(files: Mapping[str, Path], kept: Mapping[str, Json]) -> None:
    """Write the files that are not there; raise `KeyFileError` for one that has another key than the fleet."""
    for name, path in files.items():
        wanted = kept.get(f"{_FILE} {name}")
        if not isinstance(wanted, str):
            continue
        try:
            if not path.exists():
                make_folder(path.parent)
                write_private(path, wanted)
            elif read_private(path)[0] != wanted.encode():
                mend = "move it away to get that one, or have the fleet begin anew without it (docs/fleet.md)"
                raise KeyFileError(f"{path}: is another key than the fleet has for {name}; {mend}")
        except OSError as error:
            raise KeyFileError(f"{path}: {error.strerror}; name a key file that can be read or made") from None


def to_keep(files: Mapping[str, Path], kept: Mapping[str, Json]) -> Iterator[Persist]:
    """Yield the files that the fleet does not have yet."""
    for name, path in files.items():
        key = f"{_FILE} {name}"
        if key not in kept and path.exists():
            yield Persist(key, read_private(path)[0].decode("ascii", "replace"))
