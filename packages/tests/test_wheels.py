"""The package as it is installed where there is no repository: it brings its pipeline and its labs."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from repository import REPOSITORY

CARRIED = ("pyproject.toml", "controller/wayname", "topo/wayname_lab", "topo/labs", "p4src")
LOAD = """
from wayname.config.model import SwitchConfig
from wayname.pipeline.program import PROGRAM, load_program
print(PROGRAM, len(list(load_program(SwitchConfig()).tables)))
"""


def run(*command: str | Path, folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy: building leaves files behind."""
    source, made = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in CARRIED:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        if (REPOSITORY / name).is_dir():
            shutil.copytree(REPOSITORY / name, source / name, symlinks=True)
        else:
            shutil.copy(REPOSITORY / name, source / name)
    pip = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index")
    run(*pip, "--wheel-dir", made, source, folder=made)
    [found] = made.glob("wayname-*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that has the wheel, and the packages of this one but not the repository."""
    folder = tmp_path_factory.mktemp("installed")
    run(sys.executable, "-m", "venv", "--without-pip", folder, folder=folder)
    python = folder / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", wheel, folder=folder)
    [packages] = folder.glob("lib/*/site-packages")
    (packages / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python.parent


def test_the_wheel_has_the_pipeline_and_the_labs_and_no_tests(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    sources = {str(path.relative_to(REPOSITORY)) for path in (REPOSITORY / "p4src").rglob("*.p4")}
    labs = {f"wayname_lab/labs/{path.name}" for path in (REPOSITORY / "topo" / "labs").glob("*.toml")}
    assert sources and labs
    assert {f"wayname/{path}" for path in sources} | labs | {"wayname/p4src/wayname.p4info.txtpb"} <= names
    assert not [name for name in names if "tests" in Path(name).parts]


def test_an_installed_package_loads_its_own_pipeline(installed: Path) -> None:
    program, tables = run(installed / "python", "-c", LOAD, folder=installed).split()
    assert Path(program).is_relative_to(installed.parent)
    assert int(tables) > 0


def test_an_installed_command_starts_and_knows_its_labs(installed: Path) -> None:
    assert "--config" in run(installed / "wayname", "up", "--help", folder=installed)
    assert "two-sites" in run(installed / "wayname", "lab", "list", folder=installed)
