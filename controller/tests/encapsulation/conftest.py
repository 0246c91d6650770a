"""The edge of encapsulating_site.py and a host of it."""

from __future__ import annotations

import pytest
from encapsulating_site import CARRIED, SITE
from rig import Host, Rig


@pytest.fixture
def rig() -> Rig:
    return Rig(SITE + CARRIED)


@pytest.fixture
def host(rig: Rig) -> Host:
    host = Host(rig, 1, 10, "02:00:00:00:00:11", "2001:db8:1::11")
    host.ping("2001:db8:1::1")
    return host
