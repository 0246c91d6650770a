"""The configuration of an edge while the other edge of its site is the router (RFC 9568, section 6.4.2)."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv6Interface

from wayname.config.model import Config, Interface, device_mac


class BackupInterface(Interface):
    """An interface with a MAC of its own, and none of the router's addresses: it only looks for its neighbours."""

    @property
    def own_addresses(self) -> tuple[IPv6Interface, ...]:
        """None: they are the other's."""
        return ()


def as_backup(config: Config) -> Config:
    """Return the configuration by which an edge goes while the other one is the router."""
    device = config.switch.device_id
    return replace(config, interfaces=tuple(_backup(each, device) for each in config.interfaces))


def _backup(interface: Interface, device: int) -> BackupInterface:
    fields = {name: getattr(interface, name) for name in Interface.model_fields}
    fields["mac"] = device_mac(device, interface.vlan)
    fields["addresses"] = interface.global_addresses
    fields["advertise"] = False
    return BackupInterface.model_construct(**fields)
