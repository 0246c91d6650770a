"""The typed client: it knows all of the API, and the API takes what its description gives as examples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
from served import Served, client_of
from test_adapter import SwitchProcess
from test_command import PATIENCE, up, wayname
from write_client import FOLDER, SITE, answers_text, describe, formatted, operations, operations_text

from wayname.client import Client, ClientError, Credentials


@pytest.fixture
async def described() -> dict[str, Any]:
    return await describe()


def test_it_is_up_to_date(described: dict[str, Any]) -> None:
    how = "run controller/tests/write_client.py"
    assert (FOLDER / "answers.py").read_text() == formatted(answers_text(described)), how
    assert (FOLDER / "operations.py").read_text() == formatted(operations_text(described)), how


def test_every_operation_has_a_method(described: dict[str, Any]) -> None:
    names = {said["operationId"] for methods in described["paths"].values() for said in methods.values()}
    assert len(names) == sum(map(len, described["paths"].values()))
    assert not [name for name in names if not hasattr(Client, name)]


def example(described: Mapping[str, Any], schema: Mapping[str, Any]) -> Any:
    """Return what the description gives as an example."""
    if "examples" in schema:
        return schema["examples"][0]
    if "$ref" in schema:
        return example(described, described["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    if "properties" in schema:
        needed = schema.get("required", ())
        return {
            name: example(described, field)
            for name, field in schema["properties"].items()
            if name in needed or "examples" in field
        }
    assert schema["type"] == "array", f"no example: {schema}"
    return [example(described, schema["items"])]


async def test_examples_of_the_description_are_understood(described: dict[str, Any]) -> None:
    """Whatever comes of them at an edge that has no such session: they are not badly written."""
    tried = 0
    async with client_of(Served(SITE)) as client:
        for operation in operations(described):
            if operation.body is not None:
                path = operation.path.format(number=1, name="a")
                answer: httpx.Response = await client.post(path, json=example(described, operation.body))
                assert answer.status_code in (200, 404, 409), (operation, answer.text)
                tried += 1
    assert tried > 9


@pytest.fixture
def edge(tmp_path: Path) -> Iterator[Client]:
    """A client of a controller that runs."""
    switch = SwitchProcess(tmp_path)
    config, api = tmp_path / "edge.toml", f"unix:{tmp_path}/api"
    config.write_text(
        f'[switch]\naddress = "127.0.0.1:{switch.port}"\n[api]\nsocket = "{api}"\n'
        '[[port]]\nnumber = 1\nname = "h1"\nvlan = 10\n'
    )
    switch.start()
    try:
        with up(config), Client(api) as client:
            assert wayname("--api", api, "status", "--wait", "--timeout", str(PATIENCE)).returncode == 0
            yield client
    finally:
        switch.kill()


def test_a_running_edge(edge: Client) -> None:
    assert edge.status()["switch"]["state"] == "ready"
    assert [(port["number"], port["name"]) for port in edge.ports()] == [(1, "h1")]
    assert edge.table("vlan_members")["name"] == "vlan_members"
    first = next(edge.follow_events())
    assert first == edge.events()[0]
    assert edge.events(since=first["sequence"]) == edge.events()[1:]
    with edge.capture("h1", seconds=0.1) as octets:
        assert b"".join(octets)[:4] == b"\xd4\xc3\xb2\xa1"
    assert "wayname_" in edge.metrics()
    for refused in (lambda: edge.session(7), lambda: edge.table("lost"), lambda: next(edge.capture("lost").gen)):
        with pytest.raises(ClientError, match="No such"):
            refused()


def test_what_goes_wrong_is_one_line(tmp_path: Path) -> None:
    with (
        Client(f"unix:{tmp_path}/nobody") as nobody,
        pytest.raises(ClientError, match="no controller answers at unix:"),
    ):
        nobody.status()
    with pytest.raises(ClientError, match="cannot be read"):
        Client("127.0.0.1:1", Credentials(token=tmp_path / "lost"))
    with pytest.raises(ValueError, match="is no address"):
        Client("nowhere")
