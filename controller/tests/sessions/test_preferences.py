"""Flows that take a path of their own within their hosts' session (LinShim6's path index)."""

from __future__ import annotations

import pytest
from sessions.pair import UPLINKS, Pair, Side, configuration

from wayname.composition.configuration import parse_config
from wayname.config.tables import ConfigError
from wayname.edge.boundary import SessionEvent
from wayname.p4_constants import SessionEventKind

POLICIES = """
[[path_policy]]
name = "voice"
dscp = 46
provider = "q"

[[path_policy]]
name = "bulk"
protocol = "tcp"
local = "2001:db8:101:10::/64"
remote_ports = "5000-5999"
"""
PROVIDERS = """
[[port]]
number = 1
vlan = 20
[[interface]]
vlan = 20
addresses = ["2001:db8:0:1::1/64"]
[[provider]]
name = "p"
prefix = "2001:db8:101::/48"
via = ["2001:db8:0:1::9"]
"""
PREFER = 32
VOICE, BULK = 1, 2


@pytest.fixture
def pair() -> Pair:
    """Two sides with a session all of whose paths work."""
    pair = Pair(POLICIES)
    pair.talk()
    pair.drive(5)
    return pair


def preferred(side: Side) -> dict[int, int]:
    """Return which path flows of each policy take, by the switch's entries."""
    return {each["policy"]: each["path"] for each in side.entries("preferred_paths")}


def by_q(side: Side) -> int:
    """Return the path of a side by provider q at both ends."""
    [path] = [number for number, pair in side.only.paths.items() if all(f"{each}"[9] == "2" for each in pair)]
    return path


def prefer(pair: Pair, policy: str, path: int | None) -> None:
    """Let a command say which path flows take."""
    assert pair.a.sessions is not None
    pair.a.sessions.prefer(1, policy, path, pair.now)
    pair.collect(pair.a)


def test_what_the_configuration_says_stands_in_the_tables(pair: Pair) -> None:
    entries = [each for each in pair.a.held.values() if each.table_id == "path_policies"]
    voice, bulk = (dict(each.match or {}) for each in sorted(entries, key=lambda each: -each.priority))
    assert voice == {"dscp": (46, 63)}
    assert set(bulk) == {"next_header", "local", "remote_port"}
    assert (bulk["next_header"], bulk["remote_port"]) == ((6, 255), (5000, 5999))
    assert pair.a.entries("identities")[0]["mode"] & PREFER


def test_a_policy_with_a_provider_takes_a_path_by_it(pair: Pair) -> None:
    assert preferred(pair.a) == {VOICE: by_q(pair.a)}
    assert pair.a.only.path == 0


def test_none_is_taken_before_it_is_proven_to_work() -> None:
    pair = Pair(POLICIES)
    pair.dead.add("2001:db8:202::")
    pair.talk()
    pair.drive(5)
    [path] = preferred(pair.a).values()
    assert path != by_q(pair.a)
    assert str(pair.a.only.paths[path].local).startswith("2001:db8:201:")


def test_a_path_that_fails_is_left_and_taken_again(pair: Pair) -> None:
    pair.dead |= {"2001:db8:201::", "2001:db8:202::"}
    active(pair, 60)
    assert preferred(pair.a) == {}
    assert pair.a.only.path == 0
    pair.dead.clear()
    active(pair, 120)
    assert preferred(pair.a) == {VOICE: by_q(pair.a)}


def test_the_path_in_use_is_probed_too_and_left(pair: Pair) -> None:
    pair.dead |= {"2001:db8:101::", "2001:db8:102::"}
    active(pair, 60)
    # No switch said that anything is not answered.
    assert pair.a.only.path == by_q(pair.a)
    assert "probes of the path were not answered" in pair.a.only.reason


def test_a_provider_that_is_down_is_left_at_once(pair: Pair) -> None:
    assert pair.a.sessions is not None
    pair.a.ways.closed.add("q")
    pair.a.sessions.next_hops_changed(pair.now)
    pair.collect(pair.a)
    assert preferred(pair.a) == {}


def test_a_command_chooses_for_one_session(pair: Pair) -> None:
    prefer(pair, "bulk", 2)
    assert preferred(pair.a) == {VOICE: by_q(pair.a), BULK: 2}
    assert (pair.a.events[-1].kind, "flows of bulk go by path 2" in pair.a.events[-1].text) == (
        "session.preferred",
        True,
    )
    prefer(pair, "voice", 0)
    assert preferred(pair.a) == {VOICE: 0, BULK: 2}
    pair.restart(pair.a)
    assert preferred(pair.a) == {VOICE: 0, BULK: 2}
    prefer(pair, "voice", None)
    prefer(pair, "bulk", None)
    pair.drive(5)
    assert preferred(pair.a) == {VOICE: by_q(pair.a)}


def test_what_may_not_be_preferred(pair: Pair) -> None:
    assert pair.a.sessions is not None
    refusal = pair.a.sessions.preference_refusal
    assert refusal(pair.a.only, "voice") is None
    assert refusal(pair.a.only, "video") == "there is no path policy 'video'; known here: voice, bulk"
    pair.a.sessions.fork(1, 5001, 80, pair.now)
    pair.collect(pair.a)
    pair.drive(5)
    fork = next(each for each in pair.a.sessions if each.fork)
    assert refusal(fork, "voice") == f"session {fork.number} is a fork, which goes by one path; move it"
    assert fork.number not in {each["session"] for each in pair.a.entries("preferred_paths")}


def active(pair: Pair, seconds: int) -> None:
    """Let time pass while hosts talk, of which switches tell."""
    for _ in range(seconds):
        for side in (pair.a, pair.b):
            assert side.sessions is not None
            side.sessions.switch_event(SessionEvent(SessionEventKind.WATCH, side.only.number, 0, 0, 0.0), pair.now)
            pair.collect(side)
        pair.drive(1)


SCHEDULE = '\n[[schedule]]\nname = "s"\nsource = "feedback"\n'
PATH = '[[schedule.path]]\nprovider = "{name}"\nbandwidth = 1e6\ndelay = 0.01\n'
IN_COPIES = """
[[path_policy]]
name = "voice"
dscp = 46
copies = 2
"""


def scheduled(side: Side) -> None:
    """Give a side a schedule over its providers, and a policy whose flows go in two copies."""
    paths = "".join(PATH.format(name=name) for name in UPLINKS)
    side.config = parse_config(configuration(side.site)[0] + SCHEDULE + paths + IN_COPIES)


def test_flows_go_in_several_copies_where_the_peer_drops_all_but_one() -> None:
    pair = Pair()
    scheduled(pair.a)
    pair.restart(pair.a)
    pair.talk()
    pair.drive(5)
    assert pair.a.entries("preferred_paths") == [], "the peer has no schedule, and counts nothing"
    pair = Pair()
    for side in (pair.a, pair.b):
        scheduled(side)
        pair.restart(side)
    pair.talk()
    pair.drive(5)
    [entry] = pair.a.entries("preferred_paths")
    assert (entry["policy"], entry["copies"]) == (VOICE, 2)
    assert pair.a.sessions is not None
    answer = pair.a.sessions.answer(1)
    assert answer is not None
    assert (answer.replicated, answer.preferred) == ({"voice": 2}, {})
    prefer(pair, "voice", 0)
    assert preferred(pair.a) == {VOICE: 0}, "a command names one path"


@pytest.mark.parametrize(
    ("lines", "wrong"),
    [
        ('name = "voice"\nprovider = "r"', "provider"),
        ('name = "voice"\ndscp = 64', "dscp"),
        ('name = "voice"\nlocal_ports = "80"', "protocol"),
        ("dscp = 1", "name"),
        ('name = "voice"\ncopies = 1', "copies: is 1"),
        ('name = "voice"\ncopies = 2\nprovider = "p"', "go by several paths, and provider names one"),
        ('name = "voice"\ncopies = 2', 'and there is none; write a \\[\\[schedule\\]\\] with source = "feedback"'),
        ('name = "voice"\n[[path_policy]]\nname = "voice"', "twice"),
    ],
)
def test_what_is_wrong_is_told(lines: str, wrong: str) -> None:
    with pytest.raises(ConfigError, match=wrong):
        parse_config(f"{PROVIDERS}\n[[path_policy]]\n{lines}")


def test_there_are_no_more_than_sixteen() -> None:
    lines = "\n".join(f'[[path_policy]]\nname = "p{number}"' for number in range(17))
    with pytest.raises(ConfigError, match="write 16 at most"):
        parse_config(PROVIDERS + lines)
