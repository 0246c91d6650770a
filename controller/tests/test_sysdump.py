"""`wayname sysdump`: all that a bug report needs, and no secrets."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

from test_adapter import SwitchProcess
from test_command import config, fails, switch, up, wayname

__all__ = ["config", "switch"]

SECRET = "kept to ourselves"
POLICY = f"""
# A comment about {SECRET}.
[[policy]]
name = "gold"
segments = ["fd00:b::1"]
key_id = 1
key = "{SECRET}"
"""


def read(file: Path) -> dict[str, str]:
    """The files in it, by name."""
    with tarfile.open(file) as archive:
        opened = {member.name: archive.extractfile(member) for member in archive}
        return {name.partition("/")[2]: file.read().decode() for name, file in opened.items() if file}


def test_all_is_in_it_but_secrets(switch: SwitchProcess, config: Path, tmp_path: Path) -> None:
    switch.start()
    config.write_text(config.read_text() + POLICY)
    config.chmod(0o600)
    file = tmp_path / "dump.tar.gz"
    at = ("--api", f"unix:{tmp_path}/api")
    with up(config) as running:
        running.logs("switch.up")
        assert wayname(*at, "status", "--wait", "--timeout", "30").returncode == 0
        log = config.with_suffix(".log")
        done = wayname(*at, "sysdump", "--output", file, "--config", config, "--log", log)
    assert done.returncode == 0, done.stderr
    assert file.stat().st_mode & 0o777 == 0o600
    found = read(file)
    assert json.loads(found["version.json"])["running"]["wayname"]
    assert json.loads(found["api/status.json"])["switch"]["state"] == "ready"
    assert any(each["name"] == "gold" for each in json.loads(found["api/encapsulation.json"]))
    assert json.loads(found["api/tables-ports.json"])["entries"]
    assert {"api/events.json", "api/drops.json", "api/sessions.json", "api/nptv6.json", "metrics"} <= found.keys()
    assert "switch.up" in found[f"files/{log.name}"]
    assert 'key = "..."' in found["edge.toml"]
    assert 'name = "gold"' in found["edge.toml"]
    assert not [name for name, text in found.items() if SECRET in text]


def test_without_a_controller_there_is_the_machine(tmp_path: Path) -> None:
    file = tmp_path / "dump.tar.gz"
    broken = tmp_path / "edge.toml"
    broken.write_text(f"key = {SECRET}")
    done = wayname("sysdump", "-o", file, "-c", broken, "--api", f"unix:{tmp_path}/nobody")
    assert done.returncode == 0
    found = read(file)
    assert "no controller answers" in found["MISSING"]
    assert "is not TOML" in found["MISSING"]
    assert "files/meminfo" in found
    assert SECRET not in "".join(found.values())
    assert "is not overwritten" in fails(wayname("sysdump", "-o", file))
