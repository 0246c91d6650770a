"""Labs load, and what is wrong with one is said in one line."""

from pathlib import Path

import pytest

from wayname.composition.configuration import parse_config
from wayname_lab.configuration import Controlled, controller_toml
from wayname_lab.load import LABS, LabError, find_lab, lab_names, load_lab, parse_lab
from wayname_lab.model import Quality, TrafficFlow
from wayname_lab.plan import plan_lab

HEAD = 'title = "T"\n[edge.a]\n[edge.b]\n[provider.p]\n[host.a1]\nedge = "a"\n[host.b1]\nedge = "b"\n'
LINK = '[[link]]\nbetween = ["a", "p"]\n'
FLOW = '[[flow]]\nkind = "{}"\nfrom = "a1"\nto = "b1"\n'


@pytest.mark.parametrize("name", lab_names())
def test_labs_that_come_along_load(name: str) -> None:
    lab = find_lab(name)
    assert lab.name == name
    assert lab.hosts
    assert lab.flows


@pytest.mark.parametrize("name", lab_names())
def test_every_controller_takes_its_configuration(name: str) -> None:
    for router in plan_lab(find_lab(name)).routers.values():
        text = controller_toml(router, Controlled("127.0.0.1:9559", "unix:/run/lab.api"))
        assert len(parse_config(text, f"{router.name}.toml").ports) == len(router.ports)


def test_a_router_may_have_more_configuration() -> None:
    more = "[[namespace]]\nid = 5\n"
    lab = parse_lab(HEAD.replace("[edge.b]\n", f'[edge.b]\nconfiguration = """{more}"""\n') + LINK, "t", "t.toml")
    router = plan_lab(lab).routers["b"]
    config = parse_config(controller_toml(router, Controlled("127.0.0.1:9559", "unix:/run/lab.api")))
    assert [namespace.number for namespace in config.encapsulation.namespaces] == [5]


def test_what_a_link_does() -> None:
    lab = parse_lab(HEAD + LINK + 'rate = "2.5mbit"\ndelay = "10ms"\nloss = "0.5%"\nqueue = 7\n', "t", "t.toml")
    assert lab.links[0].quality == Quality(2_500_000, 10_000_000, 0.005, 7)
    assert (lab.hosts[0].vlan, lab.hosts[0].autoconfigure) == (10, False)


def test_what_a_flow_is() -> None:
    lab = parse_lab(HEAD + LINK + FLOW.format("udp") + 'rate = "1mbit"\n', "t", "t.toml")
    assert lab.flows == (TrafficFlow("udp", "a1", "b1", 1_000_000),)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("title = 3\n[edge.a]\n", "t.toml: title: is 3; write a text"),
        ("[edge.a]\n", "t.toml: title: is missing; write title = ... (a text)"),
        ('title = "T"\n', "t.toml: edge: a lab has at least one edge; write [edge.a]"),
        (
            HEAD + "[nodes]\n",
            "t.toml: nodes: is not known; "
            "known here: advertisement, delegation, edge, flow, hip, hip_edges, host, ilnp, link, provider, shim6, "
            "title",
        ),
        (HEAD + "[edge.a.b]\n", "t.toml: edge.a.b: is not known; known here: configuration"),
        (
            HEAD + "[edge.Edge-1]\n",
            "t.toml: edge.Edge-1: 'Edge-1' is no name; write up to eight letters and digits, in lower case, ",
        ),
        (HEAD + "[provider.a1]\n", "t.toml: 'a1' names two nodes; give each a name of its own"),
        (HEAD + '[host.c]\nedge = "c"\n', "t.toml: host.c.edge: there is no edge 'c'; known are a, b"),
        (
            HEAD + '[host.c]\nedge = "a"\nvlan = 1000\n',
            "t.toml: host.c.vlan: is 1000; write a number from 1 to 999",
        ),
        (HEAD + '[host.c]\nedge = "a"\nvlan = true\n', "t.toml: host.c.vlan: is True; write a whole number"),
        (HEAD + LINK + LINK, "t.toml: link[1].between: there is another link between these two; one is enough"),
        (
            HEAD + '[[link]]\nbetween = ["a", "x"]\n',
            "t.toml: link[0].between: there is no edge or provider 'x'; known are a, b, p",
        ),
        (
            HEAD + '[[link]]\nbetween = ["a"]\n',
            't.toml: link[0].between: has 1; write 2 routers, such as ["a", "p"]',
        ),
        (
            HEAD + LINK + 'delay = "10"\n',
            "t.toml: link[0].delay: '10' is wrong (it has no unit); write a number with one of the units ns, us, ms, s",
        ),
        (
            HEAD + LINK + 'loss = "2"\n',
            "t.toml: link[0].loss: '2' is wrong (it is no percentage); write a percentage such as 0.5%",
        ),
        (HEAD + LINK + "queue = 0\n", "t.toml: link[0].queue: is 0; write a number from 1 to "),
        (
            HEAD + FLOW.format("sctp"),
            "t.toml: flow[0].kind: is 'sctp'; write one of 'tcp', 'udp' or 'ping'",
        ),
        (
            HEAD + FLOW.format("udp"),
            't.toml: flow[0].rate: is missing; a UDP stream has one, such as rate = "2mbit"',
        ),
        (HEAD + "link = 3\n", "t.toml: host.b1.link: is not known"),
        ("title = ", "t.toml: is not TOML ("),
    ],
)
def test_errors_name_the_key_and_the_mend(text: str, error: str) -> None:
    with pytest.raises(LabError) as caught:
        parse_lab(text, "t", "t.toml")
    assert str(caught.value).startswith(error)
    assert "\n" not in str(caught.value)


def test_unknown_labs_and_files(tmp_path: Path) -> None:
    known = "advertised-prefixes, campus, chosen-paths, delegated-prefixes, hip, hip-edges, identities, ilnp"
    with pytest.raises(LabError, match=f"there is no lab 'x': choose one of {known}"):
        find_lab("x")
    with pytest.raises(LabError, match="No such file or directory; give the path of a lab's TOML file"):
        load_lab(tmp_path / "x.toml")
    (tmp_path / "y.toml").write_bytes(b"\xff")
    with pytest.raises(LabError, match="is not UTF-8 text"):
        load_lab(tmp_path / "y.toml")
    assert load_lab(LABS / "line.toml").name == "line"
