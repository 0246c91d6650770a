"""A rule of the user's own decides when a session begins; whatever goes wrong in it stays there."""

from __future__ import annotations

from pathlib import Path

import pytest
from sessions.pair import Pair

from wayname.config.tables import ConfigError
from wayname.edge.boundary import PairActive
from wayname.shim6.trigger_rules import load_rule


def talk(pair: Pair, octets: int) -> int:
    """Let the hosts talk; return how many sessions there are."""
    assert pair.a.sessions is not None
    pair.a.sessions.pair_active(PairActive(pair.a.host, pair.b.host, octets, 1.0, True), pair.now)
    pair.collect(pair.a)
    pair.drive(2)
    return len(list(pair.a.sessions))


def ruled(rule: str) -> Pair:
    """Return two sides with a rule."""
    return Pair(f'trigger_rule = "{rule}"')


def test_it_decides_by_what_the_switch_saw() -> None:
    pair = ruled("sessions.own_rules:long_talks")
    assert talk(pair, 2048) == 0
    assert talk(pair, 2_000_000) == 1


def test_without_one_ours_decide() -> None:
    assert talk(Pair(), 2048) == 1


@pytest.mark.parametrize(("rule", "why"), [("failing", "KeyError"), ("yes", "TypeError")])
def test_one_that_fails_begins_nothing_and_is_counted_and_told(rule: str, why: str) -> None:
    name = f"sessions.own_rules:{rule}"
    pair = ruled(name)
    assert [talk(pair, 2048) for _ in range(3)] == [0, 0, 0]
    assert pair.a.sessions is not None
    assert pair.a.sessions.rules.custom[name].failed == {why: 3}
    told = [event for event in pair.a.events if event.kind == "session.rule"]
    assert told
    assert all(f"trigger_rule {name}: the rule failed ({why}); no session begins" in event.text for event in told)


def test_what_the_peer_begins_is_not_asked_about() -> None:
    pair = ruled("sessions.own_rules:long_talks")
    assert pair.b.sessions is not None
    pair.b.sessions.pair_active(PairActive(pair.b.host, pair.a.host, 2_000_000, 1.0, True), pair.now)
    pair.collect(pair.b)
    pair.drive(2)
    assert len(list(pair.a.sessions or [])) == 1


def test_an_installed_package_brings_one_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "office-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: office\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text("[wayname.session_policy]\noffice = sessions.own_rules:long_talks\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert load_rule("office").__name__ == "long_talks"
    assert talk(ruled("office"), 2048) == 0


@pytest.mark.parametrize(
    ("rule", "wrong"),
    [
        ("nobody", "nothing installed is called nobody"),
        ("no_such_module:rule", "cannot be loaded: ModuleNotFoundError"),
        ("sessions.own_rules:lost", "cannot be loaded: AttributeError"),
        ("sessions.own_rules:NO_FUNCTION", "is no function"),
    ],
)
def test_one_that_is_not_there_is_told_at_the_start(rule: str, wrong: str) -> None:
    with pytest.raises(ConfigError, match=wrong):
        ruled(rule)
