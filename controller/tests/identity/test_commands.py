"""`wayname cga` and `wayname hba`: what they write, prove and refuse."""

import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from wayname.cli.root import main
from wayname.identity.parameters import Parameters

A, B = "2001:db8:1::/64", "2001:db8:2::/64"


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def wayname(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_an_address_and_its_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert wayname("cga", "generate", A) == 0
    address, file = capsys.readouterr().out.split()
    assert stat.S_IMODE((tmp_path / "cga.pem").stat().st_mode) == 0o600
    assert wayname("cga", "verify", address, file) == 0
    assert capsys.readouterr().out == f"{address} is proved, with Sec 1\n"
    assert wayname("cga", "verify", "2001:db8:1::1", file) == 1
    assert "not what its parameters hash to" in capsys.readouterr().err
    assert wayname("cga", "generate", B) == 0
    keys = {Parameters.decode(path.read_bytes()).public_key for path in tmp_path.glob("*.cga")}
    assert len(keys) == 1
    assert wayname("cga", "show", file) == 0
    assert A in capsys.readouterr().out


@pytest.mark.parametrize("key", [(), ("--key", "owner.pem")])
def test_a_set_proves_itself(key: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert wayname("hba", "generate", A, B, "--sec", "0", *key) == 0
    (first, first_file), (second, second_file) = (line.split() for line in capsys.readouterr().out.splitlines())
    assert wayname("hba", "verify", first, second_file) == 0
    assert wayname("hba", "verify", second, first_file) == 0
    assert wayname("hba", "verify", "2001:db8:3::1", first_file) == 1
    assert "not among the prefixes" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "status", "text"),
    [
        (("cga", "generate", "2001:db8::/32"), 2, "a subnet prefix has 64"),
        (("cga", "generate", A, "--start", "12"), 2, "hexadecimal digits"),
        (("cga", "generate", A, "--key", "nowhere/key.pem"), 1, "nowhere/key.pem: No such file"),
        (("cga", "generate", A, "--sec", "0", "--out", "nowhere"), 1, "--out"),
        (("cga", "show", "nothing.cga"), 1, "nothing.cga: No such file"),
        (("hba", "generate"), 2, "Missing argument"),
    ],
)
def test_mistakes_are_one_line(
    arguments: tuple[str, ...], status: int, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert wayname(*arguments) == status
    said = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("made a key")]
    assert len(said) == 1
    assert text in said[0]


def test_a_file_that_is_no_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "cga.pem").write_text("nonsense")
    (tmp_path / "cga.pem").chmod(0o600)
    assert wayname("cga", "generate", A) == 1
    assert "no private key" in capsys.readouterr().err


def test_ctrl_c_says_how_to_go_on() -> None:
    program = "import signal, os, wayname.identity.search as s; s.ROUND = 1\n"
    program += "import wayname.cli.proofs as p; go = p.find_modifier\n"
    program += "p.find_modifier = lambda *a: (os.kill(os.getpid(), signal.SIGINT), go(*a))[1]\n"
    program += "from wayname.cli import main; main()"
    ended = subprocess.run(
        [sys.executable, "-c", program, "cga", "generate", A, "--sec", "3", "--start", "00" * 16],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert signal.SIGINT.name not in ended.stderr
    said = ended.stderr.splitlines()[-1]
    tries = int(said.split("after ")[1].split()[0])
    assert f"--start {tries:032x} goes on" in said
