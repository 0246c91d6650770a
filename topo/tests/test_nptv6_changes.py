"""Shares and policies of a site's flows change while its controller runs, and no connection is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from lab_api import answer, client_of
from test_one_site import answered, asks, far, one_site, providers

from wayname.cli.root import wayname
from wayname.client import transport as client
from wayname_lab.virtual.lab import VirtualLab

INSIDE = "fd12:3456:789a::/48"
PATH = "/v1/nptv6/rules"


async def change(lab: VirtualLab, **wish: object) -> tuple[int, str]:
    """Wish for something; return the status, and why not."""
    async with client_of(lab, "s") as asking:
        told = await asking.post(PATH, json={"inside": INSIDE, **wish})
    lab.run_for(0.1)
    return told.status_code, told.json()["detail"] if told.status_code != 200 else ""


async def test_new_flows_go_as_is_wanted_now_and_connections_stay_where_they_are() -> None:
    lab = one_site()
    old = [asks(lab, "s1", far(lab)) for _ in range(8)]
    lab.run_for(1)
    before = providers(lab)
    assert set(before.values()) == {"p", "q"}
    assert await change(lab, providers=["q"]) == (200, "")
    new = [asks(lab, "s1", far(lab)) for _ in range(4)]
    lab.run_for(1)
    assert [by for port, by in providers(lab).items() if port not in before] == ["q"] * 4
    assert await change(lab, weights=[1, 0]) == (200, "")
    lab.run_for(1)
    last = [asks(lab, "s1", far(lab)) for _ in range(4)]
    lab.run_for(1)
    assert list(providers(lab).values())[12:] == ["p"] * 4
    assert all(answered(lab, "s1", flow, lab.now - 0.5) >= 3 for flow in (*old, *new, *last))
    assert {port: by for port, by in providers(lab).items() if port in before} == before


async def test_a_policy_comes_behind_and_goes_again() -> None:
    lab = one_site()
    assert (await change(lab, policy=[{"protocol": "tcp", "remote_ports": "5001", "providers": ["q"]}]))[0] == 200
    of_policy = [asks(lab, "s1", far(lab)) for _ in range(6)]
    lab.run_for(1)
    assert set(providers(lab).values()) == {"q"}
    async with client_of(lab, "s") as asking:
        [told] = await answer(asking, PATH)
    assert [(each["protocol"], each["remote_ports"], each["origin"]) for each in told["policies"]] == [
        (6, "5001-5001", "live")
    ]
    assert (await change(lab))[0] == 200
    for _ in range(8):
        asks(lab, "s1", far(lab))
    lab.run_for(1)
    assert set(list(providers(lab).values())[6:]) == {"p", "q"}
    assert all(answered(lab, "s1", flow, lab.now - 0.5) >= 3 for flow in of_policy)


@pytest.mark.parametrize(
    ("wish", "status", "why"),
    [
        ({"providers": ["x"]}, 409, "providers[0]: there is no provider 'x'; known here: p, q"),
        ({"providers": []}, 409, "providers: is empty"),
        ({"weights": [0, 0]}, 409, "weights: are all 0"),
        ({"weights": [1]}, 409, "weights: has 1 numbers for 2 providers"),
        ({"policy": [{"local_ports": "5"}]}, 409, "policy[0].local_ports: needs a protocol with ports"),
        ({"policy": [{"colour": "red"}]}, 409, "policy[0].colour: is not known"),
        ({"policy": [{}] * 61}, 409, "policy: there are 61; write 60 at most"),
        ({"inside": "fd00::/48"}, 404, f"'fd00::/48'; the prefixes inside are: {INSIDE}"),
    ],
)
async def test_what_cannot_be_is_refused_with_a_reason(wish: dict[str, object], status: int, why: str) -> None:
    lab = one_site()
    tables = lab.switches["s"].tables()
    refused = await change(lab, **wish)
    assert refused[0] == status and why in refused[1]
    assert lab.switches["s"].tables() == tables


def test_the_command_says_how_flows_are_shared_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    wishes: list[dict[str, object]] = []
    policy = {"local": None, "remote": "2001:db8:2::/48", "protocol": 6, "local_ports": None, "remote_ports": "443-443"}
    shares = {"providers": ["p", "q"], "weights": [3, 1]}
    told = [{"inside": INSIDE, **shares, "policies": [{**policy, **shares, "origin": "live"}]}]

    def post(self: client.Transport, path: str, body: dict[str, object]) -> object:
        wishes.append(body)
        return told

    monkeypatch.setattr(client.Transport, "post", post)
    file = tmp_path / "policies.toml"
    file.write_text('[[policy]]\nprotocol = "tcp"\n')
    command = ["nptv6", "set", INSIDE, "--providers", "p,q", "--weights", "3,1", "--file", str(file)]
    shown = CliRunner().invoke(wayname, command).output
    assert wishes == [{"inside": INSIDE, **shares, "policy": [{"protocol": "tcp"}]}]
    assert "tcp to 2001:db8:2::/48 to port 443-443" in shown and "p 3, q 1" in shown
    wrong = CliRunner().invoke(wayname, ["nptv6", "set", INSIDE, "--weights", "a"])
    assert wrong.exit_code == 2 and "'a' are no numbers between commas" in wrong.output
