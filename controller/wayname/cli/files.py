"""Files that are named on the command line."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from wayname.cli.failure import Failure


def read_toml(file: Path) -> dict[str, Any]:
    """Read tables from a file."""
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except OSError as error:
        raise Failure(f"{file}: cannot be read ({error.strerror}); name a file with tables") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise Failure(f"{file}: is not TOML ({error}); correct the line") from None
