"""Where in etcd what of a fleet stands, all below one prefix; docs/fleet.md has the same list for roles."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv6Address

from wayname.config.fleet import Fleet


@dataclass(frozen=True, slots=True)
class FleetKeys:
    """The keys of the fleet's configuration, and of all edges."""

    prefix: str

    @property
    def edges(self) -> bytes:
        """What begins the keys of all edges."""
        return f"{self.prefix}/edges/".encode()

    @property
    def configurations(self) -> bytes:
        """What begins the keys of what edges get."""
        return f"{self.prefix}/configuration/".encode()

    def configuration(self, edge: str) -> bytes:
        """What an edge gets."""
        return self.configurations + f"{edge}/current".encode()

    def edge_of_configuration(self, key: bytes) -> str:
        """Return whose configuration stands under a key."""
        return key.removeprefix(self.configurations).partition(b"/")[0].decode()

    @property
    def current_version(self) -> bytes:
        """The version of the configuration that holds."""
        return f"{self.prefix}/configuration-version".encode()

    @property
    def versions(self) -> bytes:
        """What begins the keys of all versions."""
        return f"{self.prefix}/configuration-versions/".encode()

    def version(self, number: int) -> bytes:
        """A version."""
        return self.versions + f"{number:08}".encode()

    def host(self, address: IPv6Address) -> bytes:
        """What the directory has at an address of a host: roles are given by the digits of prefixes."""
        return f"{self.prefix}/directory/{address.packed.hex()}".encode()

    @property
    def files(self) -> bytes:
        """What begins the keys of all files of all versions."""
        return f"{self.prefix}/configuration-files/".encode()

    def file(self, name: str, number: int) -> bytes:
        """The text of a file as it was changed in a version."""
        return self.files + f"{name}/{number:08}".encode()


@dataclass(frozen=True, slots=True)
class EdgeKeys:
    """The keys of one edge."""

    prefix: str
    edge: str

    @classmethod
    def of(cls, fleet: Fleet) -> EdgeKeys:
        """Return the keys of the edge that a configuration is of."""
        return cls(fleet.prefix, fleet.edge)

    def _under(self, rest: str) -> bytes:
        return f"{self.prefix}/edges/{self.edge}/{rest}".encode()

    @property
    def leader(self) -> bytes:
        """Who controls the switch, under that controller's lease."""
        return self._under("leader")

    @property
    def last_leader(self) -> bytes:
        """The last term in which somebody controlled it, by a random name."""
        return self._under("last-leader")

    @property
    def epoch(self) -> bytes:
        """The upper half of election ids: it grows when etcd has lost revisions that the switch remembers."""
        return self._under("epoch")

    @property
    def state(self) -> bytes:
        """What begins the keys of what a successor has to know."""
        return self._under("state/")

    @property
    def written(self) -> bytes:
        """Changes whenever its leader writes what a successor has to know."""
        return self._under("written")

    @property
    def published(self) -> bytes:
        """Changes whenever its leader writes to the directory."""
        return self._under("published")

    @property
    def applied(self) -> bytes:
        """Which version of the configuration its leader goes by, and why it does not go by a newer one."""
        return self._under("applied")

    @property
    def waiting(self) -> bytes:
        """What begins the keys of controllers that wait to lead it."""
        return self._under("waiting/")

    def waiting_by(self, controller: str) -> bytes:
        """As `applied`, of a controller that waits, under its lease."""
        return self.waiting + controller.encode()
