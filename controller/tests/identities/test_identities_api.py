"""What the API and `wayname identities` tell of identities."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from identities.site import NEW, SITE, DhcpHost, site
from identities.test_prefixes import PREFIX, UPLINKS, Provider
from served import Served, ask, client_of

from wayname.cli.root import wayname
from wayname.client.transport import Transport
from wayname.wire.discovery import HOP_LIMIT, NeighbourSolicitation


async def told(served: Served) -> Any:
    async with client_of(served) as client:
        return await ask(client, "/v1/identities")


def site_in_use() -> tuple[Served, list[str]]:
    """A site with a host that has a lease and was heard, another that left, and a prefix of a provider."""
    served = Served(site(UPLINKS))
    Provider(served.rig).advertise(PREFIX)
    host, other = DhcpHost(served.rig, 0x11), DhcpHost(served.rig, 0x12)
    (address,) = host.join()
    host.addresses.append(address)
    (gone,) = other.join()
    question = NeighbourSolicitation(host.router.link_local, host.mac).message()
    host.send(question.packet(address, host.router.link_local, HOP_LIMIT))
    other.ask("release")
    served.rig.advance(100)
    return served, [str(address), str(gone)]


async def test_who_has_which_identity() -> None:
    served, addresses = site_in_use()
    book = await told(served)
    (link,) = book["links"]
    assert (link["interface"], link["form"], link["hosts"], link["prepared"]) == ("site", "hba", 2, 4)
    assert [prefix["state"] for prefix in link["prefixes"]] == ["configured", "configured", "preferred"]
    assert link["prefixes"][2] == {"prefix": str(NEW), "state": "preferred", "seconds": 24 * 3600 - 100}
    first, second = book["hosts"]
    assert (first["mac"], first["state"], first["seconds"]) == ("02:00:00:00:00:11", "leased", 800)
    assert first["host"] == "DUID 00030001020000000011, IAID 1"
    assert (second["mac"], second["state"], second["seconds"]) == (None, "left", None)
    assert [host["addresses"] for host in book["hosts"]] == [[address] for address in addresses]
    assert [locator["proof"] for locator in first["locators"]] == ["set", "set", "signature"]
    assert first["locators"][0]["address"] == addresses[0]


async def test_without_identities() -> None:
    assert await told(Served(SITE)) == {"links": [], "hosts": []}


@dataclass
class Shown:
    """Runs the command on what the API of a site answers."""

    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]

    async def of(self, served: Served, *arguments: str) -> str:
        """Return what the command writes."""
        answer = await told(served)
        self.monkeypatch.setattr(Transport, "get", lambda *_: answer)
        self.capsys.readouterr()
        wayname.main(["identities", *arguments], standalone_mode=False)
        return self.capsys.readouterr().out


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shown:
    return Shown(monkeypatch, capsys)


async def test_the_command_in_words(shown: Shown) -> None:
    served, (address, gone) = site_in_use()
    said = await shown.of(served)
    assert f"{NEW} preferred, 24 h left" in said
    lines = said.splitlines()
    (line,) = [each for each in lines if "00030001020000000011" in each]
    assert line.split()[:3] == ["site", "02:00:00:00:00:11", "DUID"]
    assert address in line
    assert line.endswith("0  leased, 13 min left")
    assert any(gone in each and each.endswith("left") for each in lines)
    assert said.count(" signed") == 2


async def test_the_command_for_programs(shown: Shown) -> None:
    served, _ = site_in_use()
    assert json.loads(await shown.of(served, "--json")) == await told(served)


@pytest.mark.parametrize(
    ("config", "text"), [(SITE, "no identities are configured"), (site(), "no host has an identity yet")]
)
async def test_the_command_where_there_is_nothing(config: str, text: str, shown: Shown) -> None:
    assert text in await shown.of(Served(config))
