"""Errors about a configuration, a change or an entry do not quote the secrets in it, wherever the mistake is."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from ipaddress import IPv6Address
from pathlib import Path

import finsy as fy
import pytest
from rig import Rig
from served import Served, client_of
from test_adapter import SWITCH, configuration
from test_command import PATIENCE, fails, wayname

from wayname.adapter import SwitchError
from wayname.adapter.connection import Connection
from wayname.composition.configuration import parse_config
from wayname.config.tables import ConfigError
from wayname.edge.boundary import UpdateKind, Write, WriteFailed
from wayname.pipeline.program import load_program
from wayname.pipeline.sessions import context_tag, ilnp_nonce, path_ilnp, path_shim6
from wayname.snapshot.switch_snapshot import in_words

SECRET = "c2VjcmV0LW9mLW5hbWVz"
SITE = """
[[port]]
number = 1
vlan = 10
[[interface]]
vlan = 10
addresses = ["2001:db8:1::1/64"]
"""
NAMES = """
[ilnp]
[[ilnp.site]]
prefixes = ["2001:db8:1::/64"]
"""


@pytest.mark.parametrize(
    "text",
    [
        f'{NAMES}[ilnp.names]\nserver = "::1"\nkey_name = "k"\nkey = "{SECRET}!"\n',
        f'{NAMES}[ilnp.names]\nserver = "::1"\nkey_name = "k"\nkey = ["{SECRET}"]\n',
        f'{NAMES}[ilnp.names]\nserver = "::1"\nkey_name = "k"\nkey = {{ text = "{SECRET}" }}\n',
        f'{NAMES}[ilnp.names]\nserver = "::1"\nkey_name = ""\nkey = "{SECRET}"\n',
        f'{NAMES}[[ilnp.names]]\nserver = "::1"\nkey_name = "k"\nkey = "{SECRET}"\n',
        f'[[ilnp]]\nnames = {{ key = "{SECRET}" }}\n',
        f'ilnp = [["{SECRET}"]]\n',
        f'[policy]\nname = "p"\nsegments = ["2001:db8:9::1"]\nkey_id = 1\nkey = "{SECRET}"\n',
        f'policy = [["{SECRET}"]]\n',
        f'[[policy]]\nname = "p"\nsegments = ["2001:db8:9::1"]\nkey = "{SECRET}"\n',
        f'[[policy]]\nname = "p"\nsegments = ["2001:db8:9::1"]\nkey_id = 1\nkey = ["{SECRET}"]\n',
        f'[[policy]]\nname = {{ key = "{SECRET}" }}\nsegments = ["2001:db8:9::1"]\n',
        f'[[policy]]\nname = "p"\nsegments = [{{ key = "{SECRET}" }}]\n',
        f'[hip]\nproxy = ["2001:db8:1::/64"]\n[hip.names]\nserver = "::1"\nkey_name = "k"\nkey = "{SECRET}!"\n',
        f'key = "{SECRET}\n',
        f"key = {SECRET}\n",
    ],
)
def test_an_error_about_a_configuration_does_not_quote_its_keys(text: str) -> None:
    # What stands before all tables of a file is of the whole file.
    loose = not text.startswith(("[", "\n["))
    with pytest.raises(ConfigError) as wrong:
        parse_config(text + SITE if loose else SITE + text)
    assert SECRET not in str(wrong.value)
    assert SECRET.rstrip("=") not in str(wrong.value)


def test_a_key_is_not_taken_from_the_command_line() -> None:
    """All users of a machine see the command lines of its processes."""
    given = ("encap", "add", "policy", "name=p", "segments=fd00:b::1", "key_id=1", f"key={SECRET}")
    said = fails(wayname(*given), 2)
    assert "--file" in said
    assert SECRET not in said


def test_an_error_about_a_file_does_not_quote_its_keys(tmp_path: Path) -> None:
    file = tmp_path / "more.toml"
    file.write_text(f'[[policy]]\nsegments = ["fd00:b::1"]\nkey = "{SECRET}"\n')
    assert SECRET not in fails(wayname("encap", "add", "--file", file))


@pytest.mark.parametrize(
    "put",
    [
        {"policy": [{"name": "p", "segments": ["fd00:b::1"], "key": SECRET}]},
        {"policy": [{"name": "p", "segments": ["fd00:b::1"], "key_id": 1, "key": [SECRET]}]},
        {"policy": [{"name": "p", "segments": [{"key": SECRET}]}]},
        {"policy": {"key": SECRET}},
        {"policy": [SECRET]},
        {SECRET: []},
    ],
)
async def test_an_error_about_a_change_does_not_quote_its_keys(put: object) -> None:
    async with client_of(Served(SITE)) as client:
        answer = await client.post("/v1/encapsulation", json={"put": put})
        assert answer.status_code in {409, 422}
        assert SECRET not in answer.text or SECRET in dict.fromkeys(put if isinstance(put, dict) else ())


async def test_an_answer_about_what_packets_carry_leaves_keys_out() -> None:
    policy = f'[[policy]]\nname = "p"\nsegments = ["2001:db8:9::1"]\nkey_id = 1\nkey = "{SECRET}"\n'
    async with client_of(Served(SITE + policy)) as client:
        for path in ("/v1/encapsulation", "/v1/tables/hmacs", "/metrics", "/openapi.json"):
            answer = await client.get(path)
            assert answer.status_code == 200
            assert SECRET not in answer.text


TAG = 0x5EC2E7
NONCE = TAG.to_bytes(12)
HERE, THERE = IPv6Address("2001:db8:1::1"), IPv6Address("2001:db8:2::1")
ENTRIES = {
    "match": context_tag(TAG, 1, HERE, THERE),
    "parameter": path_shim6(1, 1, HERE, THERE, TAG, 0),
    "nonce": ilnp_nonce(HERE, THERE, NONCE, 1, 0),
    "nonce to peer": path_ilnp(1, 1, HERE, THERE, NONCE, 0, 0),
}


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES)
def test_an_entry_that_the_switch_refuses_does_not_show_its_secret(entry: fy.P4TableEntry) -> None:
    rig = Rig(SITE)
    rig.receive(WriteFailed((UpdateKind.INSERT, entry), 3, f"the entry with {TAG:#x} is there"))
    assert rig.events[-1].kind == "write.failed"
    assert entry.table_id in rig.events[-1].text
    assert not [form for form in (str(TAG), f"{TAG:x}") if form in rig.events[-1].text]


async def test_the_log_of_the_switch_does_not_quote_what_it_refuses(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = free.getsockname()[1]
    command = [str(SWITCH), "--cpu-port", "510", "--device-id", "1", "--grpc-server-addr", f"127.0.0.1:{address}"]
    config = parse_config(configuration(address)).switch
    with (tmp_path / "log").open("wb") as log:
        switch = await asyncio.create_subprocess_exec(*command, stderr=log, env={"RUST_LOG": "debug"})
        try:
            connection = Connection(config, load_program(config))
            async with asyncio.timeout(PATIENCE):
                while True:
                    with contextlib.suppress(SwitchError):
                        await connection.open()
                        break
                    await connection.close()
                    await asyncio.sleep(0.05)
                    connection = Connection(config, load_program(config))
                await connection.secure_pipeline(replace=True)
                entry = ENTRIES["match"]
                failed = await connection.write(Write([(UpdateKind.INSERT, entry)] * 2))
                await connection.close()
        finally:
            switch.terminate()
            await switch.wait()
    # The controller is told which it was; whoever reads the log is not.
    assert f"{TAG:#x}" in failed[0].text
    said = (tmp_path / "log").read_text()
    assert "Write refused" in said
    assert f"{TAG:x}" not in said


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES)
def test_tables_do_not_show_secrets(entry: fy.P4TableEntry, schema: fy.P4Schema) -> None:
    shown = in_words(fy.P4TableEntry.decode(entry.encode(schema), schema), schema)
    assert "..." in [*shown.match.values(), *shown.parameters.values()]
    assert str(TAG) not in repr(shown)
