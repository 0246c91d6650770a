"""Edges that speak HIP for hosts which know nothing of it, on the virtual clock: what HIP alone does."""

from __future__ import annotations

from dataclasses import replace

import dns.name
import dns.tsig
import dns.update
import pytest
from looking import entries, kinds
from site_pair import SEND_TIMEOUT, agrees, answered, longest_silence, talking, with_session

from wayname.hip.records import make_record
from wayname_lab.configuration import KEY, KEY_NAME
from wayname_lab.hip.identities import identity_of_host
from wayname_lab.load import find_lab
from wayname_lab.virtual.lab import VirtualLab


def test_a_cut_while_a_backup_is_checked_costs_no_more_than_any() -> None:
    lab = with_session("hip-edges")
    lab.controllers["a"].kill()
    lab.run_for(0.5)
    lab.controllers["a"].start()
    # Then a check is under way, and its answers get lost on the path that fails.
    lab.run_for(4)
    since = lab.now
    lab.cut("a-p")
    lab.run_for(4)
    assert longest_silence(lab, since) < SEND_TIMEOUT + 0.3


@pytest.mark.parametrize("router", ["a", "b"])
def test_a_controller_that_forgot_its_keys_sets_up_anew(router: str) -> None:
    lab = with_session("hip-edges")
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


def named() -> VirtualLab:
    """The lab whose edges know peers by their names alone."""
    described = find_lab("hip-edges")
    assert described.hip_edges is not None
    return talking(replace(described, hip_edges=replace(described.hip_edges, has_names=True)))


def test_peers_are_known_by_their_records_in_the_dns() -> None:
    lab = named()
    lab.run_for(3)
    assert agrees(lab)
    assert lab.names is not None
    told = [line.split() for line in lab.names.records() if " HIP " in line]
    assert {(line[0], line[5]) for line in told} == {
        (f"{name}.lab.test.", identity_of_host(name).hit.packed.hex()) for name in ("a1", "a2", "b1", "b2")
    }
    since = lab.now
    lab.cut("a-p")
    lab.run_for(3)
    assert longest_silence(lab, since) < SEND_TIMEOUT + 1.0


def test_whoever_the_dns_names_must_have_the_key() -> None:
    lab = named()
    assert lab.names is not None
    lab.controllers["a"].kill()
    # Somebody who may update the zone says that b1 is somebody else.
    update = dns.update.UpdateMessage("lab.test")
    update.replace("b1", 60, make_record(identity_of_host("z").host))
    update.use_tsig({dns.name.from_text(KEY_NAME): KEY}, algorithm=dns.tsig.HMAC_SHA256)
    assert lab.names.answer(update.to_wire()) is not None
    lab.controllers["a"].start()
    since = lab.now
    lab.run_for(5)
    assert entries(lab, "a", "context_tags") == []
    assert "hip.refused" in kinds(lab, "a", since)
