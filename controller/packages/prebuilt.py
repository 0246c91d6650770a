"""Takes what Rust makes from the wheel `wayname` that a Python has installed, if it was built from these sources.

prebuilt.py PYTHON    status 0: programs and modules are in this environment; 1: they have to be built
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from rust_sources import FILE, REPOSITORY, digest

MODULES = ("wayname_switch.abi3.so", "wayname_host.abi3.so", "wayname_cga.abi3.so")
PROGRAMS = ("wayname-switch", "wayname-host")
BUILT = REPOSITORY / "switch" / "target" / "release" / PROGRAMS[0]
ASK = """
import importlib.metadata as metadata, json
try:
    files = metadata.distribution("wayname").files or []
except metadata.PackageNotFoundError:
    files = []
print(json.dumps({file.name: str(file.locate()) for file in files}))
"""


def installed(python: str) -> dict[str, Path]:
    """Return the files of the wheel that a Python has, by their names."""
    # Not from here: a checkout is no wheel.
    done = subprocess.run([python, "-c", ASK], capture_output=True, text=True, check=False, cwd="/")
    files: dict[str, str] = json.loads(done.stdout) if done.returncode == 0 else {}
    return {name: Path(path) for name, path in files.items()}


def main() -> int:
    """Look for it."""
    if BUILT.exists():
        return 1
    files = installed(sys.argv[1])
    if not all(name in files and files[name].is_file() for name in (FILE, *MODULES, *PROGRAMS)):
        return 1
    if files[FILE].read_text().strip() != digest():
        print(f"== the wheel `wayname` of {sys.argv[1]} is of other sources: building")
        return 1
    for names, folder in ((MODULES, sysconfig.get_path("platlib")), (PROGRAMS, sysconfig.get_path("scripts"))):
        for name in names:
            shutil.copy2(files[name], Path(folder) / name)
    print(f"== switch, hosts and their Python modules: those of the wheel that {sys.argv[1]} has")
    return 0


if __name__ == "__main__":
    sys.exit(main())
