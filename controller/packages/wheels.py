"""Makes the wheels of what was built: `wayname`, which has all of it, and `wayname-switch`, the embedded switch alone.

A wheel is a zip file with a list of its files, so no build backend stands in between: those that know Rust (maturin,
setuptools-rust) compile every crate once more, with other features than the common build.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import re
import subprocess
import sysconfig
import tempfile
import tomllib
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rust_sources import FILE, REPOSITORY, digest

BUILT = REPOSITORY / "switch" / "target" / "release"
# The modules' interfaces, which type checkers read.
INTERFACES = {
    "wayname_switch": REPOSITORY / "switch" / "crates" / "python" / "wayname_switch.pyi",
    "wayname_host": REPOSITORY / "topo" / "host" / "python" / "wayname_host.pyi",
    "wayname_cga": REPOSITORY / "controller" / "cga" / "python" / "wayname_cga.pyi",
}
# The oldest Python that the modules run with is that of their stable interface, which pyproject.toml asks for too.
PYTHON_TAG = "cp311-abi3"
# The same octets each time: the first moment that a zip file can name.
LONG_AGO = (1980, 1, 1, 0, 0, 0)
READABLE, EXECUTABLE = 0o100644 << 16, 0o100755 << 16
SWITCH_SUMMARY = "A P4Runtime switch for v1model programs that compiles P4_16 itself: the program and its Python module"


@dataclass(frozen=True, slots=True)
class Native:
    """What Rust made: Python modules, and programs."""

    modules: tuple[str, ...]
    programs: tuple[str, ...]


WHOLE = Native(("wayname_switch", "wayname_host", "wayname_cga"), ("wayname-switch", "wayname-host"))
SWITCH = Native(("wayname_switch",), ("wayname-switch",))


def main() -> None:
    """Make both wheels."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("python_part", type=Path, help="the wheel of the Python package alone")
    parser.add_argument("folder", type=Path, help="where the wheels go")
    arguments = parser.parse_args()
    for wheel in (whole_wheel(arguments.python_part), switch_wheel()):
        print(wheel.write(arguments.folder))


@dataclass(slots=True)
class Wheel:
    """A wheel to be: its files by their names."""

    name: str
    version: str
    files: dict[str, bytes]
    programs: dict[str, bytes]

    def write(self, folder: Path) -> Path:
        """Write it, with the list of its files, and return where."""
        tag = f"{PYTHON_TAG}-{platform_tag([*self.files.values(), *self.programs.values()])}"
        stem = f"{self.name}-{self.version}"
        about = f"Wheel-Version: 1.0\nGenerator: wayname\nRoot-Is-Purelib: false\nTag: {tag}\n"
        names = {**self.files, f"{stem}.dist-info/WHEEL": about.encode()}
        scripts = {f"{stem}.data/scripts/{name}": content for name, content in self.programs.items()}
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{stem}-{tag}.whl"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in sorted(names.items()):
                archive.writestr(_entry(name, READABLE), content)
            for name, content in sorted(scripts.items()):
                archive.writestr(_entry(name, EXECUTABLE), content)
            record = f"{stem}.dist-info/RECORD"
            archive.writestr(_entry(record, READABLE), _record({**names, **scripts}, record))
        return path


def whole_wheel(python_part: Path) -> Wheel:
    """Return the wheel of the Python package with all that is native."""
    name, version, *_ = python_part.name.split("-")
    left_out = {f"{name}-{version}.dist-info/{file}" for file in ("WHEEL", "RECORD")}
    with zipfile.ZipFile(python_part) as archive:
        files = {each: archive.read(each) for each in archive.namelist() if each not in left_out}
    # By this `make run` knows whether it has to build.
    files[f"{name}-{version}.dist-info/{FILE}"] = f"{digest()}\n".encode()
    return Wheel(name, version, files | modules(WHOLE), programs(WHOLE))


def switch_wheel() -> Wheel:
    """Return the wheel of the switch alone."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    version = project["version"]
    metadata = (
        f"Metadata-Version: 2.4\nName: wayname-switch\nVersion: {version}\nSummary: {SWITCH_SUMMARY}\n"
        f"License-Expression: {project['license']}\nLicense-File: LICENSE\n"
        f"Requires-Python: {project['requires-python']}\n"
        "Description-Content-Type: text/markdown\n\n" + (REPOSITORY / "docs" / "switch.md").read_text()
    )
    about = f"wayname_switch-{version}.dist-info"
    licence = (REPOSITORY / "LICENSE").read_bytes()
    files = {f"{about}/METADATA": metadata.encode(), f"{about}/licenses/LICENSE": licence}
    return Wheel("wayname_switch", version, files | modules(SWITCH), programs(SWITCH))


def modules(native: Native) -> dict[str, bytes]:
    """Return the Python modules and their interfaces (PEP 561) by their names in a wheel."""
    libraries = {f"{name}.abi3.so": stripped(BUILT / f"lib{name}.so") for name in native.modules}
    return libraries | {f"{name}-stubs/__init__.pyi": INTERFACES[name].read_bytes() for name in native.modules}


def programs(native: Native) -> dict[str, bytes]:
    """Return the programs by their names."""
    return {name: stripped(BUILT / name) for name in native.programs}


def stripped(binary: Path) -> bytes:
    """Return a binary without what only a debugger wants, which is most of it."""
    if not binary.exists():
        raise SystemExit(f"{binary} is not built: `make wheel` builds it")
    with tempfile.NamedTemporaryFile() as file:
        subprocess.run(["strip", "--strip-unneeded", "-o", file.name, binary], check=True)
        return Path(file.name).read_bytes()


def platform_tag(contents: list[bytes]) -> str:
    """Return the tag of PEP 600: the newest version of glibc that binaries name is the oldest that they run with."""
    named = {int(minor) for content in contents for minor in re.findall(rb"\bGLIBC_2\.(\d+)", content)}
    return f"manylinux_2_{max(named)}_{sysconfig.get_platform().removeprefix('linux-')}"


def _entry(name: str, mode: int) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, LONG_AGO)
    entry.external_attr = mode
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def _record(files: Mapping[str, bytes], own_name: str) -> str:
    lines = []
    for name, content in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}\n")
    return "".join([*lines, f"{own_name},,\n"])


if __name__ == "__main__":
    main()
