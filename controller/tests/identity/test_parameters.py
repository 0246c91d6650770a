"""CGA Parameters: the example of RFC 3972, and everything that must fail."""

from dataclasses import replace
from ipaddress import IPv6Address, IPv6Network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayname.identity.errors import ParametersError, ProofError
from wayname.identity.extensions import Extension
from wayname.identity.parameters import Parameters, sec_of
from wayname.identity.search import find_modifier

# RFC 3972, appendix A.
KEY = bytes.fromhex(
    "305c300d06092a864886f70d0101010500034b003048024100c2c2f137305454f10bd9cea36844b530e9211a4b262b16"
    "467cb7dfba1f595c0194f275be5a4d386f2c3c23825087 73c7867f9b3b9e63a09c7bc48f7a54ebefaf0203010001"
)
START = bytes.fromhex("89a8a8b2e858d8b8f2633f44d2d4ce9a")
MODIFIER = bytes.fromhex("89a8a8b2e858d8b8f2633f44d2d4ce9b")
ADDRESS = IPv6Address("fe80::3c4a:5bf6:ffb4:ca6c")
PARAMETERS = Parameters(MODIFIER, IPv6Network("fe80::/64"), 0, KEY)


def never_asked(_: object) -> bool:
    raise AssertionError("the search took longer than the example's")


def test_example_of_rfc_3972() -> None:
    assert find_modifier(KEY, 1, START, threads=2, go_on=never_asked) == MODIFIER
    assert PARAMETERS.address(sec=1) == ADDRESS
    assert PARAMETERS.encode() == MODIFIER + ADDRESS.packed[:8] + b"\0" + KEY
    PARAMETERS.prove(ADDRESS)


def test_the_u_and_g_bits_are_nobodys_business() -> None:
    PARAMETERS.prove(IPv6Address(int(ADDRESS) | 3 << 56))


@pytest.mark.parametrize(
    ("parameters", "address", "reason"),
    [
        (replace(PARAMETERS, collisions=3), ADDRESS, "collision count is 3"),
        (replace(PARAMETERS, collisions=1), ADDRESS, "hash to"),
        (replace(PARAMETERS, modifier=START), PARAMETERS.address(1), "hash to"),
        (replace(PARAMETERS, modifier=START), replace(PARAMETERS, modifier=START).address(1), "begin with 16 zeros"),
        (PARAMETERS, PARAMETERS.address(2), "begin with 32 zeros"),
        (PARAMETERS, IPv6Address("2001:db8::3c4a:5bf6:ffb4:ca6c"), "which 2001:db8::"),
        (replace(PARAMETERS, extensions=(Extension(0xFFFD, b"?"),)), ADDRESS, "hash to"),
    ],
)
def test_forgeries_fail(parameters: Parameters, address: IPv6Address, reason: str) -> None:
    with pytest.raises(ProofError, match=reason):
        parameters.prove(address)


def test_sec_0_needs_no_search() -> None:
    address = replace(PARAMETERS, modifier=START).address(0)
    assert sec_of(address) == 0
    replace(PARAMETERS, modifier=START).prove(address)


def test_unknown_extension_fields_are_kept_and_count() -> None:
    parameters = replace(PARAMETERS, extensions=(Extension(0xFFFD, b"one"), Extension(0xFFFE, b"")))
    assert Parameters.decode(parameters.encode()) == parameters
    parameters.prove(parameters.address(0))


@pytest.mark.parametrize("length", range(len(PARAMETERS.encode())))
def test_cut_parameters_are_refused(length: int) -> None:
    with pytest.raises(ParametersError):
        Parameters.decode(PARAMETERS.encode()[:length])


@given(st.binary(max_size=200))
def test_any_octets_decode_or_are_refused(octets: bytes) -> None:
    try:
        parameters = Parameters.decode(octets)
    except ParametersError:
        return
    assert parameters.encode() == octets
