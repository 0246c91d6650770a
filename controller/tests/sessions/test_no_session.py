"""What is said where two hosts have no session: what makes one, as this edge is configured."""

from __future__ import annotations

import pytest
from served import Served, ask, client_of

from wayname.cli.sessions import why_none

SITE = """
[[port]]
number = 1
vlan = 10
[[interface]]
vlan = 10
addresses = ["2001:db8:1:10::1/64"]
"""
PREFIXES = 'prefixes = ["2001:db8:1:10::/64", "2001:db8:2:10::/64"]\n'
SHIM6 = "[[shim6]]\n" + PREFIXES
ILNP = "[[ilnp.site]]\n" + PREFIXES


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("", "there is no session: this edge speaks no protocol with sessions (Shim6, ILNP, HIP)"),
        (SHIM6, "there is no session yet: two hosts get one after 2048 octets or 60 s of talk (Shim6)"),
        (
            SHIM6 + "bytes = 0\nseconds = 1.5\n",
            "there is no session yet: two hosts get one after 1.5 s of talk (Shim6)",
        ),
        (ILNP + "bytes = 100\n", "there is no session yet: two hosts get one after 100 octets or 60 s of talk (ILNP)"),
        (
            SHIM6 + 'mode = "transparent"\n',
            "there is no session: this edge leaves it to its hosts, or to their peers, to begin one",
        ),
        (
            SHIM6 + "server = true\n",
            "there is no session: this edge leaves it to its hosts, or to their peers, to begin one",
        ),
        (
            SHIM6 + 'trigger_rule = "builtins:all"\n',
            "there is no session yet: two hosts get one when the rule builtins:all says so (Shim6)",
        ),
    ],
)
async def test_what_makes_a_session(written: str, said: str) -> None:
    async with client_of(Served(SITE + written)) as client:
        assert why_none(await ask(client, "/v1/session-triggers")) == said
