"""Files with secrets: made for their owner only, and refused if others could read or change them."""

from __future__ import annotations

import os
import stat
from pathlib import Path

OWNER_ONLY = 0o600
# What others may not do with a file of ours; and with one of root's, which our group may read.
OF_OTHERS = stat.S_IRWXG | stat.S_IRWXO
OF_OTHERS_BESIDE_GROUP = stat.S_IWGRP | stat.S_IXGRP | stat.S_IRWXO
ROOT = 0


def make_private(path: str, flags: int) -> int:
    """Open a file as `open` does (its `opener`); one that is made is for its owner only, from its first moment on."""
    return os.open(path, flags, OWNER_ONLY)


def write_private(path: Path, text: str) -> None:
    """Write a file for its owner only; one that was there is replaced, and a link is not followed."""
    path.unlink(missing_ok=True)
    with open(path, "x", encoding="utf-8", opener=make_private) as file:
        file.write(text)


def why_not_private(found: os.stat_result) -> str:
    """Return what is wrong with a file that has secrets, and the mend; an empty text if nothing is."""
    if found.st_uid not in {os.geteuid(), ROOT}:
        return f"belongs to another user (number {found.st_uid}), who can read and change it; make one of your own"
    mode, ours = stat.S_IMODE(found.st_mode), found.st_uid == os.geteuid()
    if mode & (OF_OTHERS if ours else OF_OTHERS_BESIDE_GROUP):
        mend = f"`chmod {OWNER_ONLY if ours else 0o640:o}` it, and change the secrets in it if others have seen them"
        return f"others may read or change it (mode {mode:04o}); {mend}"
    return ""


def read_private(path: Path) -> tuple[bytes, str]:
    """Return what is in a file, and what is wrong with its permissions, if something is."""
    with path.open("rb") as file:
        return file.read(), why_not_private(os.fstat(file.fileno()))
