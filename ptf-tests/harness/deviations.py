"""The file that says which tests a target is known to fail, and why."""

import tomllib
from collections.abc import Collection, Iterable
from pathlib import Path


class DeviationsError(Exception):
    """What is wrong with the file; one line for people."""


def read_deviations(path: Path) -> dict[str, str]:
    """Return the reason of each test, of a file of lines `"GROUP.TEST" = "REASON"` (TOML)."""
    try:
        lines = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise DeviationsError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise DeviationsError(f'{path}: {error}; a line is "GROUP.TEST" = "REASON"') from None
    for test, reason in lines.items():
        if "." not in test or not isinstance(reason, str) or not reason:
            raise DeviationsError(f'{path}: {test}: a line is "GROUP.TEST" = "REASON", with the quotation marks')
    return lines


def check_deviations(path: Path, deviations: Iterable[str], tests: Collection[str]) -> None:
    """Refuse what names no test: it would excuse nothing, without a word."""
    for test in deviations:
        if test not in tests:
            raise DeviationsError(f"{path}: {test}: there is no such test; --list names all")
