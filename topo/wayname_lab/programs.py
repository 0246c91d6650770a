"""Where the programs are that a lab starts."""

import shutil
import sys
from pathlib import Path

from wayname_lab.load import LabError

REPOSITORY = Path(__file__).resolve().parents[2]
BUILT = REPOSITORY / "switch" / "target" / "release"


def program(name: str) -> str:
    """Return the path of one of our programs: as built here, or else the one on the PATH."""
    built = BUILT / name
    found = str(built) if built.exists() else shutil.which(name)
    if found is None:
        raise LabError(f"{name} is not built and not on the PATH; make it with `make run`")
    return found


def python() -> str:
    """Return the Python that has our packages: the one of `make venv`, or else the one that runs this."""
    ours = REPOSITORY / ".venv" / "bin" / "python"
    return str(ours) if ours.exists() else sys.executable
