"""Files that are named on the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from wayname.config.toml_text import TomlError, parse_toml
from wayname.failure import Failure


def file_option(contents: str) -> Callable[..., Any]:
    """Return the option --file of a command, for a file with such tables."""
    return click.option("--file", "-f", "file", type=click.Path(path_type=Path, dir_okay=False), help=contents)


def read_toml(file: Path) -> dict[str, Any]:
    """Read tables from a file."""
    try:
        return parse_toml(file.read_text("utf-8"))
    except OSError as error:
        raise Failure(f"{file}: cannot be read ({error.strerror}); name a file with tables") from None
    except UnicodeDecodeError:
        raise Failure(f"{file}: is not UTF-8 text; write it as TOML") from None
    except TomlError as error:
        raise Failure(f"{file}: {error}") from None
