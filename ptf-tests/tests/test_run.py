"""What `run` says when it cannot begin: one line, and exit status 2."""

import os
import signal
import socket
import unittest
from pathlib import Path

import ptf
import pytest

from harness import main, switches
from harness.deviations import DeviationsError, check_deviations, read_deviations
from harness.edge_test import EdgeTest, EntitiesTest
from harness.ports import PortsError, check_ports, read_ports
from harness.runner import UnknownTestError, check_tests, known_tests
from harness.switches import BMV2_DEVIATIONS

ROOM = Path(__file__).parent.parent
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
        ("1 = " + "[" * 100_000, "a line is NUMBER"),
        ("1 = " + "9" * 5000, "a line is NUMBER"),
        ("9" * 5000 + ' = "veth1"', "a line is NUMBER"),
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


@pytest.fixture(scope="module")
def known() -> list[str]:
    """The names of all tests, which ptf takes a moment to find."""
    return known_tests()


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


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--target", "127.0.0.1:1"], "--target needs --ports"),
        (["--target", "127.0.0.1", "--ports", "ports.toml"], "--target 127.0.0.1: HOST:PORT"),
        (["--target", "127.0.0.1:1", "--ports", "ports.toml", "--patience", "0"], "--patience: a time above 0"),
        (["--device-id", "0"], "--device-id is for --target"),
        (["--wires", "--deviations", "own.toml"], "--deviations is for --target"),
    ],
)
def test_options_that_do_not_go_together_are_wrong_use(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], says: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        run(monkeypatch, *words)
    assert ended.value.code == 2 and says in capsys.readouterr().err


def test_tests_and_groups_are_known_by_name(known: list[str]) -> None:
    assert "bridging.SamePort" in known
    check_tests(["bridging.SamePort", "bridging"], known)
    for name in ("bridge", "bridging.Nobody", "SamePort", ""):
        with pytest.raises(UnknownTestError, match=f"^{name}: no test and no group"):
            check_tests([name], known)


def test_deviations_of_tests_that_are_not_there_are_told(tmp_path: Path) -> None:
    with pytest.raises(DeviationsError, match=r"bridging\.SamePorts: there is no such test"):
        check_deviations(tmp_path / "own.toml", ["bridging.SamePort", "bridging.SamePorts"], ["bridging.SamePort"])


def test_without_the_embedded_switch_the_run_says_what_makes_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert run(monkeypatch) == 0
    assert "`make venv-switch`" in capsys.readouterr().out
    monkeypatch.setattr(switches, "SWITCH", switches.ROOT / "nowhere")
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as switch:
        switch.bind(str(tmp_path / "wire"))
        file = tmp_path / "ports.toml"
        file.write_text("".join(f'{port} = "wire:{tmp_path}/wire"\n' for port in range(1, 7)))
        assert run(monkeypatch, "--target", "127.0.0.1:1", "--ports", str(file)) == 2
    assert "--config and --p4info" in capsys.readouterr().err


def test_the_packages_that_a_target_needs_have_one_version_each() -> None:
    def pinned(*files: Path) -> set[str]:
        return {line.split()[0] for file in files for line in file.read_text().splitlines() if "==" in line}

    ours = pinned(switches.ROOT / "requirements.txt", switches.ROOT / "requirements-dev.txt")
    assert pinned(ROOM / "requirements.txt") - ours == {"ptf==0.12.0"}


def test_who_lists_the_tests_finds_no_new_file_in_his_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert known_tests()
    assert list(tmp_path.iterdir()) == []
    assert Path(os.devnull).is_char_device()


def test_when_the_run_shall_end_the_test_that_runs_takes_away_what_it_wrote(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []

    class Ends(EntitiesTest):
        def runTest(self) -> None:
            self.addCleanup(ran.append, "cleaned up")
            os.kill(os.getpid(), signal.SIGTERM)
            ran.append("ran on")

    monkeypatch.setattr("ptf.config", {"target": None, "deviations": {}})
    monkeypatch.setattr("ptf.open_logfile", lambda name: None)
    result = unittest.TestSuite([Ends(), Ends()]).run(unittest.TestResult())
    assert result.wasSuccessful() and result.testsRun == 1
    assert ran == ["ran on", "cleaned up"]


@pytest.mark.parametrize("always", [True, False])
def test_a_test_that_fails_runs_once_more_and_its_traces_are_printed(
    always: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Traced:
        def __init__(self) -> None:
            self.watched: list[str] = []

        def watch(self, packets: str) -> None:
            self.watched.append(packets)

        def traces(self) -> list[str]:
            return [f"traced {packets}" for packets in self.watched]

    class Fails(EdgeTest):
        def setUp(self) -> None:
            self.target = ptf.config["target"]
            self.watch_packets()

        def runTest(self) -> None:
            self.assertTrue(self.traced and not always)

    target = Traced()
    monkeypatch.setattr("ptf.config", {"target": target, "deviations": {}})
    result = unittest.TestResult()
    Fails().run(result)
    assert (len(result.failures), result.testsRun) == (1, 1)
    printed = capsys.readouterr().err
    assert target.watched == ["not vlan 4000"] and "traced not vlan 4000" in printed
    assert ("It does not fail when it is traced" in printed) is not always


def test_what_a_machine_lacks_is_skipped_with_a_word(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("shutil.which", lambda tool: None)
    assert run(monkeypatch, "--bmv2") == 0
    assert capsys.readouterr().out == "run: skipped: simple_switch_grpc is not on the PATH\n"
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert run(monkeypatch, "--veth") == 0
    assert "need root" in capsys.readouterr().out


def test_deviations_of_bmv2_name_tests_that_are_there(known: list[str]) -> None:
    deviations = read_deviations(BMV2_DEVIATIONS)
    assert deviations
    check_deviations(BMV2_DEVIATIONS, deviations, known)


@pytest.mark.parametrize("text", ["bridging.SamePort", 'SamePort = "why"', '"a.B" = 1', '"a.B" = ""', "\xff"])
def test_a_bad_deviations_file_is_told_in_one_line(tmp_path: Path, text: str) -> None:
    file = tmp_path / "deviations.toml"
    file.write_text(text)
    with pytest.raises(DeviationsError) as error:
        read_deviations(file)
    assert str(file) in str(error.value) and "\n" not in str(error.value)
