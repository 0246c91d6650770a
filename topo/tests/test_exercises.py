"""Each solution passes its check, no starting file does, and labs among the solutions run with Linux hosts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from exercises.check import EXERCISES, file_of, findings

NUMBERS = range(1, len(EXERCISES) + 1)
REPOSITORY = Path(__file__).resolve().parents[2]
WITHIN = 240

every_exercise = pytest.mark.parametrize("number", NUMBERS, ids=EXERCISES)


@every_exercise
def test_solutions_pass(number: int) -> None:
    found = list(findings(number, file_of(number, "solution")))
    assert found
    assert not [each for each in found if not each.passed]


@every_exercise
def test_starting_files_can_be_used_and_do_not_pass(number: int) -> None:
    failed = [each for each in findings(number, file_of(number, "start")) if not each.passed]
    assert failed
    assert not any("cannot be used" in each.text for each in failed)


@every_exercise
def test_files_that_are_not_what_they_should_be_are_told_in_lines(number: int, tmp_path: Path) -> None:
    file = tmp_path / file_of(number, "start").name
    file.write_text("this is nothing (\n")
    [finding] = findings(number, file)
    assert not finding.passed and finding.seen


@every_exercise
def test_a_file_of_another_exercise_is_told_so(number: int, tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_text("")
    [finding] = findings(number, file)
    assert not finding.passed
    assert f"is no {file_of(number, 'start').suffix} file" in finding.text


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("pass", "entries() returns None; return a list of entries"),
        ("return [1]", "entries() returns [1]; return a list of entries"),
        ("return [port]", "line 3: NameError: name 'port' is not defined"),
    ],
)
def test_mistakes_in_python_say_where(tmp_path: Path, body: str, says: str) -> None:
    file = tmp_path / "mine.py"
    file.write_text(f"import finsy as fy\ndef entries():\n    {body}\n")
    [finding] = findings(1, file)
    assert finding.seen == (says,)


def test_an_entry_that_is_there_twice_is_named_in_short(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        file_of(1, "solution").read_text() + "\nonce = entries\n\n\ndef entries():\n    return once() * 2\n"
    )
    first, *_ = findings(1, file)
    assert not first.passed
    assert any(line.startswith("the entry with port 0x1 is already in ") for line in first.seen)
    assert max(map(len, first.seen)) < 120


@every_exercise
def test_each_has_a_page_that_names_its_file(number: int) -> None:
    [page] = (REPOSITORY / "docs" / "exercises").glob(f"{number}-*.md")
    text = page.read_text()
    assert str(file_of(number, "start").relative_to(REPOSITORY)) in text
    assert f"make exercise N={number} FILE=" in text


def test_a_scheduler_that_does_not_look_at_sizes_is_found(tmp_path: Path) -> None:
    file = tmp_path / "constant.p4"
    file.write_text(file_of(5, "solution").read_text().replace("(bit<48>) standard.packet_length", "1250"))
    assert [each.text for each in findings(5, file) if not each.passed] == [
        "short packets at 1 Mbit/s all take path 1, since each is gone before the next"
    ]


def test_packets_that_are_lost_are_no_matter_of_order_alone() -> None:
    [order] = [each for each in findings(5, file_of(5, "start")) if each.text.startswith("they arrive in the order")]
    assert not order.passed
    assert order.seen == ("not judged: 184 of 600 arrive, and their order counts when all do",)


def test_pings_that_nobody_answers_have_no_time(tmp_path: Path) -> None:
    there, round_it = "2001:db8:2:5e::1", "2001:db8:0:4::5e"
    file = tmp_path / "mine.toml"
    text = file_of(4, "solution").read_text()
    assert f'["{round_it}", "{there}"]' in text
    file.write_text(text.replace(f'["{round_it}", "{there}"]', f'["{there}", "{round_it}"]'))
    assert list(findings(4, file))[-1].seen == ("none is answered",)


def test_the_command_says_it_with_its_exit_status(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "exercises.check", "1"]
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY / "topo")}
    wrong = tmp_path / "mine.py"
    wrong.write_text("def entries(:\n")
    for arguments, status, last in (
        ([str(file_of(1, "solution"))], 0, "solved"),
        ([], 1, "not yet"),
        ([str(wrong)], 1, "not yet: mend this first"),
    ):
        done = subprocess.run([*command, *arguments], env=environment, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (status, "")
        assert done.stdout.splitlines()[-1].startswith(last)
        assert ("this is the starting file" in done.stdout) == (not arguments)


@pytest.mark.skipif(os.geteuid() != 0, reason="namespaces need root")
@pytest.mark.parametrize("number", [2, 3, 4], ids=EXERCISES[1:4])
def test_solutions_that_are_labs_run_with_linux_hosts(number: int) -> None:
    command = [sys.executable, "-m", "wayname", "lab", "run", str(file_of(number, "solution")), "--in", "namespaces"]
    done = subprocess.run(
        [*command, "--seconds", "8"], cwd=REPOSITORY, capture_output=True, text=True, timeout=WITHIN, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
