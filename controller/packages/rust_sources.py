"""What native programs and modules are built from, as one number: wheels name it, and who has one need not build."""

from __future__ import annotations

import hashlib
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
FOLDERS = ("switch", "controller/cga", "topo/host")
# Made by builds and tests.
LEFT_OUT = {"target", "corpus", "artifacts", "__pycache__", "tests"}
FILE = "rust-sources.sha256"


def digest(repository: Path = REPOSITORY) -> str:
    """Return the digest of all names and contents."""
    found = hashlib.sha256()
    for folder in FOLDERS:
        for path in sorted((repository / folder).rglob("*")):
            name = path.relative_to(repository)
            if path.is_file() and not LEFT_OUT & set(name.parts):
                found.update(f"{name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return found.hexdigest()
