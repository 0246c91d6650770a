"""The files that secure a way to somebody else."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Tls:
    """Who signs the other's certificate, and our own with its key if the other wants to know us."""

    ca: Path
    certificate: Path | None = None
    key: Path | None = None
    # Where the configuration names them, for who has to mend it.
    section: str = "switch"
