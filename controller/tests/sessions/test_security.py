"""What of a peer's locators is believed: what is proved, or by a lab's choice all of it; and which of ours lead."""

from __future__ import annotations

from ipaddress import IPv6Address, IPv6Network

import pytest
from sessions.pair import Pair, configuration

from wayname.composition.configuration import parse_config
from wayname.config.tables import ConfigError
from wayname.edge.boundary import Severity
from wayname.shim6.config import SECTION
from wayname.shim6.edge.hosts import local_host

UNPROVED = 'security = "none"'


def test_security_is_on_unless_a_lab_does_without() -> None:
    [rules] = SECTION.of(parse_config(configuration(1)[0])) or ()
    assert rules.security == "proved"
    pair = Pair(UNPROVED)
    [warning] = [event for event in pair.a.events if event.kind == "shim6.insecure"]
    assert warning.severity is Severity.WARNING
    assert "2001:db8:101:10::/64" in warning.text


def test_without_security_a_host_needs_no_proofs() -> None:
    text, address = configuration(1, UNPROVED)
    text = text[: text.index("\nparameters")]
    [rules] = SECTION.of(parse_config(text)) or ()
    host = local_host(rules, rules.hosts[0])
    other = IPv6Network("2001:db8:201:10::/64")[int(address) & (1 << 64) - 1]
    assert host.locators == {address, other}
    with pytest.raises(ConfigError, match="parameters: is missing"):
        parse_config(text.replace(UNPROVED, ""))


def unproved(pair: Pair) -> None:
    """Take the proofs of both hosts away, and begin again."""
    for side in (pair.a, pair.b):
        text, _ = configuration(side.site, side.more)
        side.config = parse_config(text[: text.index("\nparameters")])
        pair.restart(side)


def test_without_security_claims_are_believed() -> None:
    pair = Pair(UNPROVED)
    unproved(pair)
    pair.talk()
    pair.drive(5)
    for side, other in ((pair.a, pair.b), (pair.b, pair.a)):
        identifier = int(other.host) & (1 << 64) - 1
        claimed = {other.host, IPv6Network(f"2001:db8:20{other.site}:10::/64")[identifier]}
        assert {each.peer for each in side.only.paths.values()} == claimed


def test_who_wants_proofs_believes_no_claims() -> None:
    pair = Pair(UNPROVED)
    unproved(pair)
    pair.b.config = parse_config(configuration(2)[0])
    pair.restart(pair.b)
    pair.talk()
    pair.drive(30)
    for side in (pair.a, pair.b):
        assert side.sessions is not None
        assert list(side.sessions) == []
    assert "shim6.dropped" in pair.b.kinds()


def test_peers_with_less_sec_than_wanted_get_no_session() -> None:
    pair = Pair("min_sec = 1")
    pair.talk()
    pair.drive(30)
    assert pair.a.sessions is not None
    assert list(pair.a.sessions) == []
    assert "has Sec 0, but at least 1 is asked for" in next(
        event.text for event in pair.b.events if event.kind == "shim6.dropped"
    )


@pytest.mark.parametrize(
    ("more", "line"),
    [
        ('security = "some"', "shim6[0].security: is 'some'"),
        ("min_sec = 8", "shim6[0].min_sec: is 8"),
        (f"min_sec = 1\n{UNPROVED}", "shim6[0].min_sec: is 1, and nothing is proved"),
    ],
)
def test_mistakes(more: str, line: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_config(configuration(1, more)[0])
    assert line in str(caught.value)


def test_deprecated_locators_come_last() -> None:
    pair = Pair()
    pair.talk()
    pair.drive(5)
    sessions = pair.a.sessions
    assert sessions is not None
    deprecated = IPv6Network("2001:db8:101:10::/64")
    assert pair.a.only.ordered[0].local in deprecated
    sessions.deprecate([deprecated], pair.now)
    assert [one.local in deprecated for one in pair.a.only.ordered] == [False, False, True, True]
    # What is in use stays; it is only no longer what packets go back to.
    assert pair.a.only.pair.local in deprecated
    sessions.deprecate([], pair.now)
    assert pair.a.only.ordered[0].local == IPv6Address(pair.a.host)
