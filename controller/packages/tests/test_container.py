"""The container image: built of the wheel, it has the commands, and an edge of two containers forwards.

Nothing is pulled: where the base image is not there already (`podman pull debian:bookworm-slim`), this is skipped.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from places import PACKAGES, REPOSITORY, Run

BASE = "debian:bookworm-slim"
IMAGE = f"wayname-test-{uuid.uuid4().hex[:8]}"
# Where both versions of control groups are mounted, crun refuses to run; and these limits are in reach everywhere.
PODMAN = "umount /sys/fs/cgroup/unified 2>/dev/null; exec podman"
LIMITS = ("--ulimit", "nofile=4096:4096", "--ulimit", "nproc=4096:4096", "--cgroups=disabled")
# So that pip reaches its index as here.
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")

EDGE = """
[switch]
address = "unix:/run/wayname-switch/p4runtime"
admin = "unix:/run/wayname-switch/admin"
[[port]]
number = 1
vlan = 10
[[port]]
number = 2
vlan = 20
[[interface]]
vlan = 10
addresses = ["2001:db8:1::1/64"]
[[interface]]
vlan = 20
addresses = ["2001:db8:2::1/64"]
"""


def podman(*words: str | Path) -> list[str]:
    """Return a command that runs podman, in a mount namespace of its own."""
    line = f"{PODMAN} {shlex.join(map(str, words))}"
    return ["unshare", "--mount", "--propagation", "slave", "sh", "-c", line]


def missing() -> str:
    """Return what is not there."""
    if os.geteuid() != 0:
        return "needs root"
    if not shutil.which("podman"):
        return "podman is not there"
    if subprocess.run(podman("image", "exists", BASE), check=False, capture_output=True).returncode:
        return f"the image {BASE} is not there; podman pull {BASE}"
    tried = subprocess.run(
        podman("run", "--rm", "--network=host", *LIMITS, BASE, "true"), check=False, capture_output=True
    )
    return f"containers do not run here: {tried.stderr.decode().strip()}" if tried.returncode else ""


pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())


@pytest.fixture(scope="module")
def image(wheels: dict[str, Path], run: Run, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The image, made as `make container` makes it, but with this machine's network and way to the index."""
    folder = tmp_path_factory.mktemp("container")
    for file in (REPOSITORY / "requirements.txt", wheels["wayname"]):
        shutil.copy(file, folder)
    file = PACKAGES / "Containerfile"
    options: list[str | Path] = ["--network=host", "--isolation=chroot", "--pull=never", "--file", file]
    if CERTIFICATES.exists():
        options += ["--volume", f"{CERTIFICATES}:{CERTIFICATES}:ro", "--env", f"PIP_CERT={CERTIFICATES}"]
    run(*podman("build", *options, "--tag", IMAGE, folder))
    yield IMAGE
    subprocess.run(podman("rmi", "--force", IMAGE), check=False, capture_output=True)


def test_the_commands_are_there(image: str, run: Run) -> None:
    def says(*words: str) -> str:
        return run(*podman("run", "--rm", "--network=none", *LIMITS, image, *words))

    assert "wayname" in says("wayname", "version")
    assert says("wayname-switch", "--version").startswith("wayname-switch ")
    # What `wayname init` and `wayname doctor` ask.
    assert "lo" in says("ip", "-json", "link")


@pytest.fixture
def network(run: Run) -> Iterator[str]:
    """Namespaces of an edge and two hosts; what their names begin with."""
    name = f"wn-box-{uuid.uuid4().hex[:6]}"
    nodes = [f"{name}-{node}" for node in ("edge", "1", "2")]
    for node in nodes:
        run("ip", "netns", "add", node)
        run("ip", "-n", node, "link", "set", "lo", "up")
    for number in "12":
        edge, host = nodes[0], f"{name}-{number}"
        run(*f"ip -n {edge} link add eth{number} type veth peer name eth0 netns {host}".split())
        run(*f"ip netns exec {edge} sysctl -qw net.ipv6.conf.eth{number}.disable_ipv6=1".split())
        for node, device in ((edge, f"eth{number}"), (host, "eth0")):
            run(*f"ip -n {node} link set {device} up".split())
        run(*f"ip -n {host} address add 2001:db8:{number}::11/64 dev eth0 nodad".split())
        run(*f"ip -n {host} route add default via 2001:db8:{number}::1".split())
    yield name
    for node in nodes:
        subprocess.run(["ip", "netns", "delete", node], check=False)


def test_an_edge_of_two_containers_forwards(image: str, run: Run, network: str, tmp_path: Path) -> None:
    volumes = {"etc": "/etc/wayname", "run": "/run", "state": "/var/lib/wayname"}
    for name in volumes:
        (tmp_path / name).mkdir()
    (tmp_path / "run" / "wayname-switch").mkdir()
    (tmp_path / "etc" / "edge.toml").write_text(EDGE)
    shared = [word for name, place in volumes.items() for word in ("--volume", f"{tmp_path / name}:{place}")]

    def boxed(*words: str) -> list[str]:
        command = podman("run", "--network=host", *LIMITS, *shared, *words)
        return ["nsenter", f"--net=/run/netns/{network}-edge", *command]

    def asked(*words: str) -> str:
        return run(*boxed("--rm", image, "wayname", *words))

    assert "edge.toml" in asked("check", "/etc/wayname/edge.toml")
    switch = ("--name", f"{network}-switch", "--cap-add", "NET_RAW,NET_ADMIN,BPF", image, "wayname-switch")
    sockets = ("--grpc-server-addr", "unix:/run/wayname-switch/p4runtime", "--admin", "/run/wayname-switch/admin")
    started = (
        (*switch, "-i", "1@eth1", "-i", "2@eth2", *sockets, "--state", "/var/lib/wayname/switch"),
        ("--name", f"{network}-controller", image, "wayname", "up", "--config", "/etc/wayname/edge.toml"),
    )
    with (tmp_path / "log").open("wb") as log:
        processes = [subprocess.Popen(boxed(*words), stdout=log, stderr=log) for words in started]
    try:
        asked("status", "--wait", "--timeout", "120")
        ping = f"ip netns exec {network}-1 ping -c 3 -i 0.3 -W 10 2001:db8:2::11"
        assert "3 packets transmitted, 3 received" in run(*ping.split())
    except AssertionError as error:
        raise AssertionError((tmp_path / "log").read_text()) from error
    finally:
        for which in ("controller", "switch"):
            subprocess.run(
                podman("rm", "--force", "--time", "5", f"{network}-{which}"), check=False, capture_output=True
            )
        for process in processes:
            process.wait(60)
    assert (tmp_path / "state" / "switch").stat().st_size > 0
