"""Checks an exercise: `make exercise N=NUMBER FILE=yours`. docs/exercises/ has their texts."""

import argparse
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

from wayname_switch import CompileError

from exercises.finding import Finding, NotReadable
from wayname.config.tables import ConfigError
from wayname.escape import escaped
from wayname_lab.load import LabError

FOLDER = Path(__file__).resolve().parent
# The folder of each exercise, in the order of their numbers.
EXERCISES = ("table_entry", "nptv6", "shim6_failover", "ioam_path", "scheduler")


def file_of(number: int, name: str) -> Path:
    """Return the starting file or the solution of an exercise."""
    return next((FOLDER / EXERCISES[number - 1]).glob(f"{name}.*"))


def findings(number: int, file: Path) -> Iterator[Finding]:
    """Yield what a file does and does not do, one thing after the other."""
    if not file.is_file():
        yield Finding(False, f"there is no file {file}", is_end=True)
        return
    start = file_of(number, "start")
    if file.suffix != start.suffix:
        text = f"{file.name} is no {start.suffix} file; exercise {number} begins with a copy of {start}"
        yield Finding(False, text, is_end=True)
        return
    try:
        yield from importlib.import_module(f"exercises.{EXERCISES[number - 1]}.asked").asked(file)
    except (CompileError, ConfigError, LabError, NotReadable) as error:
        yield Finding(False, f"{file.name} cannot be used", tuple(str(error).splitlines()), is_end=True)


def main() -> int:
    """Check what the command line names."""
    parser = argparse.ArgumentParser(description="Check an exercise of docs/exercises.")
    parser.add_argument("number", type=int, choices=range(1, len(EXERCISES) + 1), help="of the exercise")
    parser.add_argument("file", type=Path, nargs="?", help="yours; default: the starting file as it is")
    arguments = parser.parse_args()
    file = arguments.file or file_of(arguments.number, "start")
    print(f"exercise {arguments.number}: {file}")
    if arguments.file is None:
        print("no FILE=yours was given: this is the starting file as it is")
    failed, is_end = 0, False
    for finding in findings(arguments.number, file):
        failed += not finding.passed
        is_end |= finding.is_end
        print(f"{'ok' if finding.passed else 'FAILED'}: {finding.text}")
        for line in () if finding.passed else finding.seen:
            print(f"        {escaped(line)}")
    left = "mend this first, the rest was not looked at" if is_end else f"{failed} to go"
    print("solved" if not failed else f"not yet: {left}; docs/exercises has hints")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
