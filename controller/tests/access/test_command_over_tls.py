"""`wayname` asks a controller that runs as a process over TLS: tokens that it made itself, and client certificates."""

from __future__ import annotations

import json
import stat
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from access.certificates import Authority
from access.edge import free_port
from test_command import fails, up, wayname

from harness.commands import wait_until
from wayname.composition.configuration import parse_config
from wayname.config.api import Role

CONFIG = """
[switch]
address = "unix:{folder}/nobody"
[controller]
log_format = "json"
[api]
socket = "unix:{folder}/api"
listen = "127.0.0.1:{port}"
certificate = "edge.pem"
key = "edge.key"
client_ca = "authority.pem"
[[api.client]]
name = "ops.example"
roles = ["operate"]
[[port]]
number = 1
vlan = 10
[[interface]]
vlan = 10
addresses = ["fd00:1::1/64"]
"""


class Edge:
    """A controller at TCP, and how to ask it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.authority = Authority(folder)
        self.authority.issue("edge.example", file="edge")
        self.config = folder / "edge.toml"
        tables = [self.new_token(role, role) for role in ("read", "operate")]
        self.config.write_text("\n".join([CONFIG.format(folder=folder, port=self.port), *tables]))
        self.config.chmod(0o600)

    @property
    def over_tls(self) -> tuple[str, ...]:
        """Where it is, and whom to believe there."""
        return ("--api", f"https://127.0.0.1:{self.port}", "--ca", str(self.authority.path))

    def token(self, name: str) -> tuple[str, ...]:
        """The option for a token."""
        return ("--token-file", str(self.folder / name))

    def new_token(self, name: str, *roles: str) -> str:
        """Make a token; return the lines for the configuration."""
        given = [word for role in roles for word in ("--role", role)]
        done = wayname("token", "new", name, *given, "--out", self.folder / name)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout


@pytest.fixture
def edge(tmp_path: Path) -> Iterator[Edge]:
    made = Edge(tmp_path)
    with up(made.config):
        wait_until(lambda: wayname("--api", f"unix:{tmp_path}/api", "hosts").returncode == 0, "the API")
        yield made


def test_a_token_looks_and_a_token_changes(edge: Edge) -> None:
    read, operate = edge.token("read"), edge.token("operate")
    done = wayname(*edge.over_tls, *read, "status", "--json")
    # Its switch is not there, and that is what it says.
    assert (done.returncode, done.stderr) == (1, "")
    assert json.loads(done.stdout)["switch"]["address"] == f"unix:{edge.folder}/nobody"
    assert "operate" in fails(wayname(*edge.over_tls, *read, "reload"))
    assert wayname(*edge.over_tls, *operate, "reload").returncode == 0
    told = wayname(*edge.over_tls, *read, "events", "--json").stdout.splitlines()
    who = [(each["kind"], each["subject"]) for each in map(json.loads, told) if each["kind"].startswith("api.")]
    assert who == [("api.refused", "token read"), ("api.changed", "token operate")]


def test_variables_stand_for_the_options(edge: Edge) -> None:
    variables = {
        "WAYNAME_API": f"https://127.0.0.1:{edge.port}/",
        "WAYNAME_CA": str(edge.authority.path),
        "WAYNAME_TOKEN_FILE": str(edge.folder / "read"),
    }
    assert wayname("hosts", **variables).returncode == 0
    certificate, key = edge.authority.issue("ops.example")
    del variables["WAYNAME_TOKEN_FILE"]
    assert wayname("reload", **variables, WAYNAME_CERT=str(certificate), WAYNAME_KEY=str(key)).returncode == 0


def test_a_certificate_has_the_roles_of_its_name(edge: Edge) -> None:
    known, unknown = edge.authority.issue("ops.example"), edge.authority.issue("guest.example")

    def shown(pair: tuple[Path, Path]) -> tuple[str, ...]:
        return ("--cert", str(pair[0]), "--key", str(pair[1]))

    assert wayname(*edge.over_tls, *shown(known), "reload").returncode == 0
    assert "guest.example" in fails(wayname(*edge.over_tls, *shown(unknown), "status"))


def test_who_shows_nothing_or_something_wrong_reads_one_line_that_says_how(edge: Edge, tmp_path: Path) -> None:
    nothing = fails(wayname(*edge.over_tls, "status"))
    assert "wayname token new" in nothing or "--token-file" in nothing
    wrong = tmp_path / "wrong"
    wrong.write_text("not-a-token\n")
    wrong.chmod(0o600)
    assert "not one of this API" in fails(wayname(*edge.over_tls, "--token-file", wrong, "status"))
    stranger = Authority(tmp_path, "stranger")
    pair = stranger.issue("ops.example", file="strangers")
    line = fails(wayname(*edge.over_tls, "--cert", pair[0], "--key", pair[1], "status"))
    assert "--cert" in line or "broke off" in line
    elsewhere = ("--api", f"https://127.0.0.1:{edge.port}", "--ca", str(stranger.path))
    assert "name its authority with --ca" in fails(wayname(*elsewhere, *edge.token("read"), "status"))


def test_a_token_that_others_may_read_is_not_sent(edge: Edge) -> None:
    (edge.folder / "read").chmod(0o644)
    assert "others may read" in fails(wayname(*edge.over_tls, *edge.token("read"), "status"))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--token-file", "{folder}/none"), "cannot be read"),
        (("--ca", "{folder}/none.pem"), "name PEM files with --ca, --cert and --key"),
        (("--cert", "{folder}/edge.toml"), "name PEM files with --ca, --cert and --key"),
    ],
)
def test_files_that_are_not_there_are_one_line(words: tuple[str, str], says: str, tmp_path: Path) -> None:
    edge = Edge(tmp_path)
    given = [word.format(folder=tmp_path) for word in words]
    assert says in fails(wayname(*edge.over_tls, *given, "status"))


def test_a_withdrawn_token_is_none_after_a_reload(edge: Edge) -> None:
    text = edge.config.read_text()
    edge.config.write_text(text[: text.rindex("[[api.token]]")])
    assert wayname("--api", f"unix:{edge.folder}/api", "reload").returncode == 0
    assert "not one of this API" in fails(wayname(*edge.over_tls, *edge.token("operate"), "hosts"))
    assert wayname(*edge.over_tls, *edge.token("read"), "hosts").returncode == 0


def test_a_new_token_is_printed_once_and_the_configuration_has_its_hash(tmp_path: Path) -> None:
    first, second = (wayname("token", "new", 'the "one"', "--role", "read", "--role", "capture") for _ in range(2))
    token, _, lines = first.stdout.partition("\n\n")
    assert len(token) >= 43
    assert token not in lines
    assert not second.stdout.startswith(token)
    pair = 'certificate = "c"\nkey = "k"\n'
    config = parse_config(f'[api]\nlisten = "127.0.0.1:9580"\n{pair}{lines}')
    [known] = config.api.token
    assert (known.name, set(known.roles)) == ('the "one"', {Role.READ, Role.CAPTURE})


def test_a_token_in_a_file_is_for_its_owner_and_on_no_screen(tmp_path: Path) -> None:
    file = tmp_path / "token"
    done = wayname("token", "new", "prometheus", "--out", file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    token = file.read_text().strip()
    assert token not in done.stdout
    assert 'roles = ["read"]' in done.stdout
    assert "is there already" in fails(wayname("token", "new", "prometheus", "--out", file))
    assert file.read_text().strip() == token
    assert "cannot be written" in fails(wayname("token", "new", "other", "--out", tmp_path / "none" / "token"))


def test_a_token_for_some_edges_says_so() -> None:
    before = wayname("--edge", "berlin", "token", "new", "ops", "--role", "operate")
    behind = wayname("token", "new", "ops", "--edge", "berlin", "--edge", "hamburg")
    told = [tomllib.loads(done.stdout.split("\n\n")[1])["api"]["token"][0] for done in (before, behind)]
    assert [(each["roles"], each["edges"]) for each in told] == [
        (["operate"], ["berlin"]),
        (["read"], ["berlin", "hamburg"]),
    ]


def test_a_role_that_there_is_not_is_refused() -> None:
    done = wayname("token", "new", "x", "--role", "admin")
    assert done.returncode == 2
    assert "admin" in done.stderr
