"""A server of etcd for the tests of fleets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from wayname_lab.etcd import EtcdCluster, missing_for_etcd


@pytest.fixture(scope="session")
def one_etcd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EtcdCluster]:
    """One member, which all tests of a process ask under prefixes of their own."""
    if reason := missing_for_etcd():
        pytest.skip(reason)
    with EtcdCluster(tmp_path_factory.mktemp("etcd"), members=1) as cluster:
        yield cluster


@pytest.fixture
def three_etcds(tmp_path: Path) -> Iterator[EtcdCluster]:
    """Three members for a test alone, which may do with them what it likes."""
    if reason := missing_for_etcd():
        pytest.skip(reason)
    folder = tmp_path / "etcds"
    folder.mkdir()
    with EtcdCluster(folder) as cluster:
        yield cluster
