"""Edges that speak HIP for hosts which know nothing of it, on the virtual clock: providers fail, connections go on."""

from __future__ import annotations

import pytest
from looking import entries, kinds
from test_two_sites import SEND_TIMEOUT, agrees, answered, longest_silence, talking

from wayname_lab.load import find_lab
from wayname_lab.virtual.lab import VirtualLab


def with_session() -> VirtualLab:
    """Return the lab when two hosts talk and have a session."""
    lab = talking(find_lab("hip-edges"))
    lab.run_for(3)
    assert agrees(lab)
    return lab


def test_hosts_that_talk_get_a_session() -> None:
    lab = with_session()
    assert kinds(lab, "a").count("session.up") == kinds(lab, "b").count("session.up") == 1
    # Every path is proven, so each has a backup.
    assert len(entries(lab, "a", "backups")) == len(entries(lab, "b", "backups")) == 4


@pytest.mark.parametrize("link", ["a-p", "b-p"])
def test_a_provider_fails_and_the_connection_goes_on(link: str) -> None:
    lab = with_session()
    cut = lab.now
    lab.cut(link)
    lab.run_for(4)
    for router in ("a", "b"):
        assert "session.moved" in kinds(lab, router, cut)
        assert entries(lab, router, "identities")[0]["path"] != 0
    assert longest_silence(lab, cut) < SEND_TIMEOUT + 1.0
    repaired = lab.now
    lab.restore(link)
    lab.run_for(20)
    for router in ("a", "b"):
        assert entries(lab, router, "identities")[0]["path"] == 0
    assert longest_silence(lab, repaired) < 0.3


@pytest.mark.parametrize("router", ["a", "b"])
def test_a_controller_that_forgot_its_keys_sets_up_anew(router: str) -> None:
    lab = with_session()
    tags = {entry["key_tag"] for entry in entries(lab, "a", "context_tags")}
    lab.controllers[router].kill()
    lab.run_for(0.5)
    lab.controllers[router].start()
    lab.run_for(3)
    assert agrees(lab)
    assert tags.isdisjoint({entry["key_tag"] for entry in entries(lab, "a", "context_tags")})
    since = lab.now
    lab.run_for(10)
    assert answered(lab, since) > 80
    lab.cut("a-p")
    lab.run_for(4)
    assert longest_silence(lab, since) < SEND_TIMEOUT + 1.0
