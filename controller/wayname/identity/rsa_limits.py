"""Which RSA keys of others are computed with; looked at before any arithmetic.

A verification is a power of the signature: an exponent of as many bits as the modulus makes it a hundred times dearer
than 65537, which is what keys have (FIPS 186-5 wants more than 65536, and programs take the least prime of those;
3, 5, 17 and 257 are older habits). The cost also grows with the square of the modulus.
"""

MOST_EXPONENT = 65537
MOST_BITS = 4096


def check_rsa_numbers(exponent: int, modulus: int, least_bits: int) -> None:
    """Raise ValueError unless signatures of a key can be checked, at a price that is known."""
    if not least_bits <= modulus.bit_length() <= MOST_BITS or not modulus & 1:
        raise ValueError(f"a modulus of {modulus.bit_length()} bits; odd ones of {least_bits} to {MOST_BITS} are taken")
    if not 3 <= exponent <= MOST_EXPONENT or not exponent & 1:
        raise ValueError(f"an exponent of {exponent.bit_length()} bits; odd ones from 3 to {MOST_EXPONENT} are taken")
