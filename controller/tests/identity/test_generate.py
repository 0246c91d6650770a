"""Generating CGAs and sets of hash-based addresses."""

import random
from dataclasses import replace
from ipaddress import IPv6Address, IPv6Network

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_der_public_key

from wayname.identity.errors import ParametersError, ProofError
from wayname.identity.extensions import MultiPrefix
from wayname.identity.generate import generate_cga, generate_hba, move_cga
from wayname.identity.keys import extended_modifier_key, key_length
from wayname.identity.parameters import Parameters, sec_of
from wayname.identity.search import Progress, find_modifier

A, B, C = (IPv6Network(f"2001:db8:{number}::/64") for number in (1, 2, 3))
KEY = ec.generate_private_key(ec.SECP256R1()).public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def find(tail: bytes, sec: int) -> bytes:
    modifier = find_modifier(tail, sec, bytes(16), threads=2, go_on=lambda _: True)
    assert modifier is not None
    return modifier


def nobody(_: IPv6Address) -> bool:
    return False


@pytest.mark.parametrize("sec", [0, 1])
def test_a_generated_address_proves_itself(sec: int) -> None:
    address, parameters = generate_cga(A, KEY, sec, find, nobody)
    assert address in A
    assert sec_of(address) == sec
    Parameters.decode(parameters.encode()).prove(address)


def test_collisions_are_counted_and_the_third_ends_it() -> None:
    taken: list[IPv6Address] = []

    def taken_twice(address: IPv6Address) -> bool:
        taken.append(address)
        return len(taken) <= 2

    address, parameters = generate_cga(A, KEY, 0, find, taken_twice)
    assert parameters.collisions == 2
    assert len(set(taken)) == 3
    parameters.prove(address)
    with pytest.raises(ProofError, match="somebody claims all of them"):
        generate_cga(A, KEY, 0, find, lambda _: True)


def test_another_prefix_needs_no_new_search() -> None:
    _, parameters = generate_cga(A, KEY, 1, find, nobody)
    address, moved = move_cga(parameters, B, 1, nobody)
    assert moved.modifier == parameters.modifier
    moved.prove(address)


@pytest.mark.parametrize("key", [None, KEY], ids=["its own key", "a key"])
def test_each_address_of_a_set_proves_all_the_others(key: bytes | None) -> None:
    made = generate_hba([A, B], key, 1, find, nobody, random.Random(1))
    assert [parameters.prefix for _, parameters in made] == [A, B]
    for _, parameters in made:
        assert parameters.multi_prefix == MultiPrefix((A, B), has_public_key=key is not None)
        for address, _ in made:
            Parameters.decode(parameters.encode()).prove_member(address)


def test_what_does_not_belong_to_a_set() -> None:
    (address, parameters), (other, _) = generate_hba([A, B], None, 0, find, nobody, random.Random(1))
    with pytest.raises(ProofError, match="not among the prefixes"):
        parameters.prove_member(IPv6Address(int(address) ^ int(A.network_address) ^ int(C.network_address)))
    with pytest.raises(ProofError, match="hash to"):
        parameters.prove_member(IPv6Address(int(other) ^ 1))
    with pytest.raises(ProofError, match="no Multi-Prefix"):
        replace(parameters, extensions=()).prove_member(address)


def test_an_extended_modifier_is_an_rsa_key_to_others() -> None:
    for number in (random.Random(2).getrandbits(1024) % (1 << 384) | 1, 1 << 383 | 1, 0x7F):
        encoded = extended_modifier_key(number)
        assert key_length(encoded + b"more") == len(encoded)
    # The library refuses keys of 384 bits, but not the encoding.
    whole = rsa.generate_private_key(65537, 1024).public_key()
    encoded = whole.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    assert key_length(encoded) == len(encoded)
    assert load_der_public_key(encoded)
    with pytest.raises(ParametersError):
        extended_modifier_key(1 << 384)


def test_a_search_that_is_ended_goes_on_where_it_was() -> None:
    seen: list[Progress] = []

    def end_at_once(progress: Progress) -> bool:
        seen.append(progress)
        return False

    assert find_modifier(KEY, 3, bytes(16), threads=2, go_on=end_at_once) is None
    assert seen[0].next == seen[0].tried.to_bytes(16)
    assert seen[0].expected == 1 << 48
    assert 0 < seen[0].chance_so_far < 1e-6
