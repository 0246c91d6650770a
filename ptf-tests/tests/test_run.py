"""What `run` says when it cannot begin: one line, and exit status 2."""

import socket
from pathlib import Path

import pytest

from harness import main
from harness.deviations import DeviationsError, read_deviations
from harness.ports import PortsError, check_ports, read_ports
from harness.switches import BMV2_DEVIATIONS

WIRES = "".join(f'{port} = "wire:/nowhere/{port}"\n' for port in range(1, 7))


def test_a_ports_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "ports.toml"
    file.write_text(f'# ours\n{WIRES}7 = "eth7"  # not used\n')
    assert read_ports(file) == {port: f"wire:/nowhere/{port}" for port in range(1, 7)}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('1 = "eth1"', "2 is missing"),
        ("1 eth1", "line 1"),
        ('first = "eth1"', "first: a line is NUMBER"),
        ("1 = 1", "1: a line is NUMBER"),
        ("\xff", "line 1"),
    ],
)
def test_a_bad_ports_file_is_told_in_one_line(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "ports.toml"
    file.write_text(text)
    with pytest.raises(PortsError) as error:
        read_ports(file)
    assert says in str(error.value) and str(file) in str(error.value) and "\n" not in str(error.value)


def test_a_missing_ports_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(PortsError, match="No such file"):
        read_ports(tmp_path / "none")


def test_a_wire_or_an_interface_that_is_not_there_is_told() -> None:
    with pytest.raises(PortsError, match="port 1: no wire at /nowhere/1"):
        check_ports({1: "wire:/nowhere/1"})
    with pytest.raises(PortsError, match="port 3: no network interface nowhere0"):
        check_ports({3: "nowhere0"})


def test_a_file_in_place_of_a_wire_is_told(tmp_path: Path) -> None:
    with pytest.raises(PortsError, match="no wire"):
        check_ports({1: f"wire:{tmp_path}"})


def test_a_wire_that_is_there_is_taken(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as switch:
        switch.bind(str(tmp_path / "1"))
        check_ports({1: f"wire:{tmp_path / '1'}"})


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr("sys.argv", ["run", *words])
    return main.main()


def test_what_cannot_begin_ends_with_status_2(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "ports.toml"
    file.write_text(WIRES)
    assert run(monkeypatch, "--target", "127.0.0.1:1", "--ports", str(file)) == 2
    assert capsys.readouterr().err == "run: port 1: no wire at /nowhere/1; does the switch run?\n"


def test_a_target_without_ports_is_wrong_use(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit) as ended:
        run(monkeypatch, "--target", "127.0.0.1:1")
    assert ended.value.code == 2


def test_what_a_machine_lacks_is_skipped_with_a_word(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("shutil.which", lambda tool: None)
    assert run(monkeypatch, "--bmv2") == 0
    assert capsys.readouterr().out == "run: skipped: simple_switch_grpc is not on the PATH\n"
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert run(monkeypatch, "--veth") == 0
    assert "need root" in capsys.readouterr().out


def test_deviations_of_bmv2_name_tests_that_are_there() -> None:
    deviations = read_deviations(BMV2_DEVIATIONS)
    assert deviations
    for test in deviations:
        group, name = test.split(".")
        text = (BMV2_DEVIATIONS.parent.parent / "suites" / f"{group}.py").read_text("utf-8")
        assert f"class {name}(" in text, test


@pytest.mark.parametrize("text", ["bridging.SamePort", 'SamePort = "why"', '"a.B" = 1', '"a.B" = ""', "\xff"])
def test_a_bad_deviations_file_is_told_in_one_line(tmp_path: Path, text: str) -> None:
    file = tmp_path / "deviations.toml"
    file.write_text(text)
    with pytest.raises(DeviationsError) as error:
        read_deviations(file)
    assert str(file) in str(error.value) and "\n" not in str(error.value)
