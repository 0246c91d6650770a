"""Schedules as the API and the command tell them, from the controller of a lab on the virtual clock."""

from __future__ import annotations

from typing import Any

import pytest
from click.testing import CliRunner
from lab_api import OfLab, answer, client_of
from looking import entries, kinds
from prometheus_client.parser import text_string_to_metric_families
from test_many_paths import SUM, goodput, many_paths, sending
from test_reported_paths import lab_of

from wayname.cli.root import wayname
from wayname.cli.session import ALL_AGREED, NO_FEEDBACK, NO_ORDER
from wayname.client import transport as client
from wayname.metrics.exposition import exposition
from wayname.p4_constants import PATH_BITS
from wayname_lab.virtual.lab import VirtualLab


@pytest.fixture(scope="module")
def lab() -> VirtualLab:
    """The lab while it sends."""
    return many_paths()


async def test_schedules_in_the_api_and_the_commands(lab: VirtualLab, monkeypatch: pytest.MonkeyPatch) -> None:
    async with client_of(lab, "a") as asking:
        told = await answer(asking, "/v1/schedules")
        assert await answer(asking, "/v1/schedules/sites") == told[0]
        unknown = await asking.get("/v1/schedules/other")
    assert (unknown.status_code, unknown.json()["detail"]) == (404, "'other'; the schedules are: sites")
    [schedule] = told
    assert (schedule["policy"], schedule["source"]) == ("fastest-first", "marks")
    assert [(path["provider"], path["bandwidth"]) for path in schedule["paths"]] == [("p", 2e6), ("q", 4e6), ("r", 5e6)]
    [group] = schedule["groups"]
    assert (group["sessions"], [path["state"] for path in group["paths"]]) == ([1], ["open"] * 3)

    async with client_of(lab, "a") as asking:
        [session] = await answer(asking, "/v1/sessions")
        whole = await answer(asking, "/v1/sessions/1")
    assert (session["schedule"], len(session["scheduled_paths"])) == ("sites", 3)
    used = [path for path in whole["paths"] if path["sent_packets"] > 100]
    assert [path["number"] for path in used] == session["scheduled_paths"]
    monkeypatch.setattr(client.Transport, "get", lambda self, path: [session] if path == "/v1/sessions" else whole)
    assert "3 of 9 at once  schedule sites" in CliRunner().invoke(wayname, ["sessions"]).output
    assert "sites: packets take paths 0, " in CliRunner().invoke(wayname, ["session", "1"]).output

    monkeypatch.setattr(client.Transport, "get", lambda self, path: told if path == "/v1/schedules" else schedule)
    listed = CliRunner().invoke(wayname, ["schedule", "list"]).output.splitlines()
    assert listed[1].split() == ["sites", "fastest-first", "marks", "1", "3"]
    told_of = CliRunner().invoke(wayname, ["schedule", "show", "sites"]).output
    assert "closed after 0.1 s, probed every 0.2 s" in told_of
    assert told_of.count("configured") == 3


async def test_another_policy_counts_from_the_next_packet_on(lab: VirtualLab, monkeypatch: pytest.MonkeyPatch) -> None:
    async with client_of(lab, "a") as asking:
        wrong = await asking.post("/v1/schedules/sites/policy", json={"policy": "slowest-first"})
        assert wrong.status_code == 422
        told = (await asking.post("/v1/schedules/sites/policy", json={"policy": "best-path"})).json()
    assert (told["policy"], told["configured"]) == ("best-path", "fastest-first")
    [entry] = entries(lab, "a", "schedules")
    paths = {each["key_path"]: each["source"] for each in entries(lab, "a", "paths") if "source" in each}
    [shared] = entries(lab, "a", "session_schedules")
    assert f"{paths[shared['paths'] >> PATH_BITS * entry['slot'] & 15]:032x}".startswith("20010db80301")
    lab.run_for(1)
    assert goodput(lab) < 0.5 * SUM
    monkeypatch.setattr(client.Transport, "post", lambda self, path, body: told)
    said = CliRunner().invoke(wayname, ["schedule", "policy", "sites", "best-path"]).output
    assert "best-path (configured: fastest-first)" in said
    assert CliRunner().invoke(wayname, ["schedule", "policy", "sites", "fast"]).exit_code == 2

    lab.controllers["a"].kill()
    lab.controllers["a"].start()
    lab.run_for(0.5)
    assert entries(lab, "a", "schedules") == [entry]
    async with client_of(lab, "a") as asking:
        await asking.post("/v1/schedules/sites/policy", json={"policy": "fastest-first"})
    lab.run_for(3)
    assert kinds(lab, "a").count("schedule.policy") == 2
    # More than the best path carries; TCP finds out slowly that there is more again.
    assert goodput(lab) > 0.6 * SUM


def test_metrics_count_sessions_and_open_paths(lab: VirtualLab) -> None:
    text = exposition(OfLab(lab, "a"), {}, None).decode()
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    [sessions] = [each for each in samples if each.name == "wayname_schedule_sessions"]
    assert (sessions.labels, sessions.value) == ({"schedule": "sites"}, 1)
    paths = [each for each in samples if each.name == "wayname_schedule_path_open"]
    assert [each.labels["path"].split()[0] for each in paths] == ["p", "q", "r"]
    assert {each.value for each in paths} <= {0, 1}


async def test_a_path_that_is_cut_at_the_peer_stays_in_what_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    lab = many_paths()
    lab.cut("b-q")
    lab.run_for(10)
    assert "path.left" in kinds(lab, "a")
    async with client_of(lab, "a") as asking:
        schedule = await answer(asking, "/v1/schedules/sites")
    [group] = schedule["groups"]
    rows = {path["name"].split()[0]: path for path in group["paths"]}
    assert {name: path["state"] for name, path in rows.items()} == {"p": "open", "q": "left", "r": "open"}
    [left] = [event.text for whose, event in lab.events if whose == "a" and event.kind == "path.left"]
    assert rows["q"]["why"] == "no session takes it: " + left.partition("/48: ")[2]
    assert 0 < rows["q"]["for_seconds"] < 10

    assert f"left   {rows['q']['why']}" in shown(monkeypatch, schedule, "schedule", "show", "sites")
    assert shown(monkeypatch, [schedule], "schedule", "list").splitlines()[1].endswith("3, 1 left")
    alone = {**schedule, "groups": [{**group, "sessions": []}]}
    assert "no session has two paths that work (registers 1)" in shown(monkeypatch, alone, "schedule", "show", "sites")
    text = exposition(OfLab(lab, "a"), {}, None).decode()
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    paths = [each for each in samples if each.name == "wayname_schedule_path_open"]
    assert {each.labels["path"].split()[0]: each.value for each in paths} == {"p": 1, "q": 0, "r": 1}


def shown(monkeypatch: pytest.MonkeyPatch, told: Any, *words: str) -> str:
    """Return what a command prints of an answer."""
    monkeypatch.setattr(client.Transport, "get", lambda self, path: told)
    return CliRunner().invoke(wayname, words).output


async def test_what_the_edges_agreed_on_is_told_of_schedule_and_session(monkeypatch: pytest.MonkeyPatch) -> None:
    lab = sending(lab_of("a", "b"))
    async with client_of(lab, "a") as asking:
        schedule, session = await answer(asking, "/v1/schedules/sites"), await answer(asking, "/v1/sessions/1")
    [group] = schedule["groups"]
    assert (group["numbered"], group["in_order"]) == ([1], [1])
    assert (session["figures"], session["numbered"], session["in_order"]) == ("feedback", True, True)
    # Nobody said how much fits into queues; packets wait at the edge instead.
    assert all(path["window"] > path["bandwidth"] / 8 * (path["delay"] + 0.04) for path in group["paths"])
    # Each path had packets of which the peer reported, and the switch told of them.
    assert all(0 <= path["reported_seconds_ago"] < 1.5 for path in group["paths"])
    assert f"packets of 1: {ALL_AGREED}" in shown(monkeypatch, schedule, "schedule", "show", "sites")
    assert ALL_AGREED in shown(monkeypatch, session, "session", "1")
    told_of = shown(monkeypatch, schedule, "schedule", "show", "sites").splitlines()
    assert "reinjection  on" in told_of
    assert "copies       2, with policy redundant" in told_of
    assert "hold         duplicate acknowledgements for 0.06 s" in told_of
    schedule |= {"reinjection": False, "hold": 0.0, "close": False, "policy": "redundant"}
    told_of = shown(monkeypatch, schedule, "schedule", "show", "sites").splitlines()
    assert "reinjection  off" in told_of
    assert "late paths   stay open (close = false)" in told_of
    assert "policy       redundant, 2 copies of each packet (configured: fastest-first)" in told_of
    assert not [line for line in told_of if line.startswith(("copies", "hold"))]

    # No report, and what is lost has closed all paths: packets have no other way.
    for path in group["paths"]:
        path.update(state="closed", packets=0)
    silent = shown(monkeypatch, schedule, "schedule", "show", "sites")
    assert "no report of a peer has come" in silent
    assert "all paths are closed, so packets go by them all the same" in silent
    group["paths"][0]["state"] = "open"
    assert "all paths are closed" not in shown(monkeypatch, schedule, "schedule", "show", "sites")
    group["in_order"] = []
    assert f"packets of 1: {NO_ORDER}" in shown(monkeypatch, schedule, "schedule", "show", "sites")


async def test_another_policy_forgets_no_report_of_the_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    lab = sending(lab_of("a", "b"))
    async with client_of(lab, "a") as asking:
        told = (await asking.post("/v1/schedules/sites/policy", json={"policy": "redundant"})).json()
        just_set = shown(monkeypatch, told, "schedule", "show", "sites")
        told = (await asking.post("/v1/schedules/sites/policy", json={"policy": "per-flow"})).json()
        unnumbered = shown(monkeypatch, told, "schedule", "show", "sites")
    assert f"packets of 1: {ALL_AGREED}" in just_set
    assert "no report of a peer has come" not in just_set
    assert "no packet is numbered, so none is reported: per-flow does without" in unnumbered
    assert ALL_AGREED not in unnumbered


async def test_a_peer_without_feedback_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    lab = sending(lab_of("a"))
    async with client_of(lab, "a") as asking:
        schedule, session = await answer(asking, "/v1/schedules/sites"), await answer(asking, "/v1/sessions/1")
    assert (schedule["groups"][0]["numbered"], session["numbered"]) == ([], False)
    assert f"packets of 1: {NO_FEEDBACK}" in shown(monkeypatch, schedule, "schedule", "show", "sites")
    assert NO_FEEDBACK in shown(monkeypatch, session, "session", "1")
    async with client_of(lab, "b") as asking:
        session = await answer(asking, "/v1/sessions/1")
    # Where marks are asked for there is nothing to agree on.
    assert NO_FEEDBACK not in shown(monkeypatch, session, "session", "1")
