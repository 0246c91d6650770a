"""Where the programs are that a lab starts."""

import shutil
import sys
from pathlib import Path

from wayname_lab.load import LabError

REPOSITORY = Path(__file__).resolve().parents[2]
BUILT = REPOSITORY / "switch" / "target" / "release"


def program(name: str) -> str:
    """Return the path of one of our programs: as built here, or installed beside this Python, or on the PATH."""
    beside = (BUILT / name, Path(sys.executable).with_name(name))
    found = next((str(path) for path in beside if path.exists()), None) or shutil.which(name)
    if found is None:
        raise LabError(f"{name} is not built and not on the PATH; `make lab-programs` builds it")
    return found


def python() -> str:
    """Return the Python that has our packages: the one of `make venv`, or else the one that runs this."""
    ours = REPOSITORY / ".venv" / "bin" / "python"
    return str(ours) if ours.exists() else sys.executable
