"""What the tests of packages have in common: the wheels, made once of what is built."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from places import PACKAGES, REPOSITORY, Run

# What makes packages stands beside the tests, as scripts.
sys.path.insert(0, str(PACKAGES))

CARRIED = ("pyproject.toml", "LICENSE", "controller/wayname", "topo/wayname_lab", "topo/labs", "p4src")


@pytest.fixture(scope="session")
def run() -> Run:
    """Run a command to its end, with nothing of the repository in its environment; return its output."""

    def run(*command: str | Path, folder: Path | None = None, **environment: str) -> str:
        clean = {key: os.environ[key] for key in ("PATH", "HOME") if key in os.environ}
        done = subprocess.run(
            command, cwd=folder, env=clean | environment, capture_output=True, text=True, check=False, timeout=900
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def wheels(run: Run, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Both wheels, by their names; the Python part is built from a copy, since building leaves files behind."""
    source, made = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheels")
    for name in CARRIED:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        if (REPOSITORY / name).is_dir():
            shutil.copytree(REPOSITORY / name, source / name, symlinks=True)
        else:
            shutil.copy(REPOSITORY / name, source / name)
    pip = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index")
    run(*pip, "--wheel-dir", made / "python", source, folder=made)
    [python_part] = (made / "python").glob("wayname-*.whl")
    run(sys.executable, PACKAGES / "wheels.py", python_part, made)
    return {path.name.split("-")[0]: path for path in made.glob("*.whl")}
