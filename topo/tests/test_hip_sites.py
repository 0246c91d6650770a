"""Edges that speak HIP for hosts which know nothing of it, on the virtual clock: what HIP alone does."""

from __future__ import annotations

import pytest
from looking import entries
from site_pair import SEND_TIMEOUT, agrees, answered, longest_silence, with_session


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
