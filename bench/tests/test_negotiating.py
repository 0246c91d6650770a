"""Figure 7: what hosts that never met have to do, and what they sign."""

from __future__ import annotations

import random

import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

from bench.shim6 import identities
from bench.shim6.identities import PREFIXES, signed
from bench.shim6.negotiating import HBA, KINDS, Meeting, negotiate, pair_of
from wayname.identity.parameters import prover_of


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("meeting", Meeting)
def test_all_kinds_come_to_a_context(kind: str, meeting: Meeting) -> None:
    rng = random.Random(1)
    assert negotiate(pair_of(kind, 2, rng), rng, meeting) > 0


def test_who_never_met_has_proved_nothing_before() -> None:
    pair = pair_of(HBA, 2, random.Random(1))
    pair.meet(Meeting.AGAIN)
    assert prover_of.cache_info().currsize == 2
    pair.meet(Meeting.FIRST)
    assert prover_of.cache_info().currsize == 0


def test_what_is_signed_are_the_locators(monkeypatch: pytest.MonkeyPatch) -> None:
    host = signed(PREFIXES[:2], random.Random(1), 1024)
    octets: list[bytes] = []

    def sign(_key: RSAPrivateKey, data: bytes, *_: object) -> bytes:
        octets.append(data)
        return bytes(128)

    monkeypatch.setattr(type(identities.key_pair(1024)), "sign", sign, raising=False)
    told = host.tell()
    assert told.ulid == host.host.ulid
    (data,) = octets
    assert told.ulid.packed in data
