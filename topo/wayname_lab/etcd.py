"""Servers of etcd for labs and tests, on the loopback or wherever a prefix starts them."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

# As docs/fleet.md says: leases of a second need members that elect a leader in half a second.
TUNING = ("--heartbeat-interval=50", "--election-timeout=500")
PATIENCE = 60.0
# In memory where that is possible: tests wait for no disk that others keep busy.
IN_MEMORY = Path("/dev/shm")
# A member reserves 64 MiB for its log, and as much again.
LEAST_MEMORY = 1 << 30


def missing_for_etcd() -> str:
    """Say why there is no etcd here, or nothing."""
    found = shutil.which("etcd") and shutil.which("etcdctl")
    return "" if found else "need etcd and etcdctl (apt-get install etcd-server etcd-client)"


def free_ports(count: int) -> list[int]:
    """Return ports that nobody listens at."""
    found = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports: list[int] = [each.getsockname()[1] for each in found]
    for each in found:
        each.close()
    return ports


@dataclass(frozen=True, slots=True)
class Secured:
    """Files of TLS: who signs, and what servers and whoever asks by `etcdctl` show."""

    ca: Path
    server: tuple[Path, Path] = field(repr=False)
    client: tuple[Path, Path] = field(repr=False)


@dataclass(slots=True)
class Member:
    """A server: where it listens, how it is started, and its process while it runs."""

    name: str
    host: str
    client: int
    peer: int
    prefix: Sequence[str] = ()
    process: subprocess.Popen[bytes] | None = None


class EtcdCluster:
    """Members of one etcd; `with` it. Their logs stay in the folder, their data go with them."""

    def __init__(
        self,
        folder: Path,
        members: int = 3,
        secured: Secured | None = None,
        nodes: Sequence[tuple[str, Sequence[str]]] = (),
        tuning: Sequence[str] = TUNING,
    ) -> None:
        """`nodes` are addresses with the commands by which programs start there; without, all are on the loopback."""
        ports = iter(free_ports(2 * members))
        places = nodes or [("127.0.0.1", ())] * members
        self._folder, self._secured, self._tuning = folder, secured, tuning
        self._data = folder
        self.members = [
            Member(f"etcd{number}", host, next(ports), next(ports), prefix)
            for number, (host, prefix) in enumerate(places, 1)
        ]

    @property
    def endpoints(self) -> list[str]:
        """Where clients ask."""
        return [f"{each.host}:{each.client}" for each in self.members]

    def __enter__(self) -> EtcdCluster:
        self._data = Path(tempfile.mkdtemp(prefix="wayname-etcd-", dir=_roomy(self._folder)))
        try:
            for member in self.members:
                self.start(member)
            self.until_healthy()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        for member in self.members:
            self.kill(member)
        shutil.rmtree(self._data, ignore_errors=True)

    def start(self, member: Member) -> None:
        """Start a member, with the data that it had."""
        scheme = "https" if self._secured else "http"
        peers = ",".join(f"{each.name}=http://{each.host}:{each.peer}" for each in self.members)
        client, peer = f"{scheme}://{member.host}:{member.client}", f"http://{member.host}:{member.peer}"
        arguments = [
            *member.prefix,
            "etcd",
            f"--name={member.name}",
            f"--data-dir={self.data_of(member)}",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster={peers}",
            "--log-level=error",
            *self._tuning,
        ]
        if self._secured:
            certificate, key = self._secured.server
            arguments += [f"--cert-file={certificate}", f"--key-file={key}"]
            arguments += [f"--trusted-ca-file={self._secured.ca}", "--client-cert-auth"]
        with (self._folder / f"{member.name}.log").open("ab") as log:
            # In a session of its own, as each service is: the scheduler shares the processors out by session.
            member.process = subprocess.Popen(arguments, stdout=log, stderr=log, start_new_session=True)

    def data_of(self, member: Member) -> Path:
        """Return the folder of a member's data."""
        return self._data / member.name

    def restore(self, member: Member, snapshot: Path) -> None:
        """Let a member that does not run begin with a snapshot the next time; one whose etcd has no others."""
        data = self.data_of(member)
        shutil.rmtree(data)
        peer = f"http://{member.host}:{member.peer}"
        named = [f"--name={member.name}", f"--initial-cluster={member.name}={peer}"]
        where = [f"--data-dir={data}", f"--initial-advertise-peer-urls={peer}"]
        done = self.ctl("snapshot", "restore", str(snapshot), *named, *where)
        assert done.returncode == 0, done

    def kill(self, member: Member) -> None:
        """Kill a member without a warning."""
        self.send(member, signal.SIGKILL)
        if member.process is not None:
            member.process.wait()
            member.process = None

    def send(self, member: Member, number: signal.Signals) -> None:
        """Send a member a signal."""
        if member.process is not None:
            member.process.send_signal(number)

    def ctl(self, *arguments: str, client: tuple[Path, Path] | None = None) -> subprocess.CompletedProcess[str]:
        """Run `etcdctl`, with another certificate and key than the cluster's own if they are given."""
        scheme = "https" if self._secured else "http"
        given = [f"--endpoints={','.join(f'{scheme}://{each}' for each in self.endpoints)}"]
        if self._secured:
            certificate, key = client or self._secured.client
            given += [f"--cacert={self._secured.ca}", f"--cert={certificate}", f"--key={key}"]
        prefix = self.members[0].prefix
        environment = {**os.environ, "ETCDCTL_API": "3"}
        command = [*prefix, "etcdctl", *given, *arguments]
        return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)

    def leader(self) -> Member:
        """Return the member that leads the others."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            for line in self.ctl("endpoint", "status").stdout.splitlines():
                words = [word.strip() for word in line.split(",")]
                if words[4] == "true":
                    where = words[0].partition("://")[2]
                    return next(each for each in self.members if f"{each.host}:{each.client}" == where)
            time.sleep(0.05)
        raise TimeoutError("no member of etcd leads")

    def until_healthy(self) -> None:
        """Wait until etcd takes what it is given."""
        deadline = time.monotonic() + PATIENCE
        while self.ctl("put", "/healthy", "1").returncode != 0:
            if time.monotonic() > deadline:
                logs = (self._folder / f"{each.name}.log" for each in self.members)
                raise TimeoutError("etcd does not answer: " + "".join(log.read_text()[-500:] for log in logs))
            time.sleep(0.1)


def _roomy(folder: Path) -> Path:
    """Return a folder in memory with room for data, or the one on disk."""
    is_roomy = IN_MEMORY.is_dir() and shutil.disk_usage(IN_MEMORY).free >= LEAST_MEMORY
    return IN_MEMORY if is_roomy else folder
