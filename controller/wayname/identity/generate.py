"""Making addresses that prove themselves (RFC 3972, section 4; RFC 5535, section 6).

The search for the modifier is native code and may take long; see `wayname_cga`. All that follows is quick.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from ipaddress import IPv6Address, IPv6Network

from wayname.identity.errors import ProofError
from wayname.identity.extensions import Extension, MultiPrefix
from wayname.identity.keys import EXTENDED_MODIFIER_BITS, extended_modifier_key
from wayname.identity.parameters import MODIFIER_OCTETS, MOST_COLLISIONS, Parameters

# Finds a modifier for (tail, sec), from a random one on; `search.find_modifier` does.
FindModifier = Callable[[bytes, int], bytes]
# Whether somebody else has the address already (duplicate address detection).
IsTaken = Callable[[IPv6Address], bool]


def generate_cga(
    prefix: IPv6Network, public_key: bytes, sec: int, find: FindModifier, is_taken: IsTaken
) -> tuple[IPv6Address, Parameters]:
    """Make an address that is bound to a public key."""
    modifier = find(public_key, sec)
    return _first_free(Parameters(modifier, prefix, 0, public_key), sec, is_taken)


def generate_hba(
    prefixes: Sequence[IPv6Network],
    public_key: bytes | None,
    sec: int,
    find: FindModifier,
    is_taken: IsTaken,
    rng: random.Random,
) -> list[tuple[IPv6Address, Parameters]]:
    """Make the addresses of a set, one in each prefix; with a public key they are CGAs as well."""
    multi_prefix = MultiPrefix(tuple(prefixes), public_key is not None)
    if public_key is None:
        public_key = extended_modifier_key(rng.getrandbits(EXTENDED_MODIFIER_BITS) | 1)
    extensions: tuple[Extension, ...] = (multi_prefix.extension(),)
    parameters = Parameters(bytes(MODIFIER_OCTETS), prefixes[0], 0, public_key, extensions)
    parameters = replace(parameters, modifier=find(parameters.tail, sec))
    return [_first_free(replace(parameters, prefix=prefix), sec, is_taken) for prefix in prefixes]


def move_cga(
    parameters: Parameters, prefix: IPv6Network, sec: int, is_taken: IsTaken
) -> tuple[IPv6Address, Parameters]:
    """Make the same owner's address in another prefix: the modifier serves again, so there is no search."""
    return _first_free(replace(parameters, prefix=prefix, collisions=0), sec, is_taken)


def _first_free(parameters: Parameters, sec: int, is_taken: IsTaken) -> tuple[IPv6Address, Parameters]:
    for collisions in range(MOST_COLLISIONS + 1):
        candidate = replace(parameters, collisions=collisions)
        address = candidate.address(sec)
        if not is_taken(address):
            return address, candidate
    # Three in a row do not happen by chance: somebody answers for addresses that are not theirs.
    raise ProofError(f"{MOST_COLLISIONS + 1} addresses in {parameters.prefix} are taken; somebody claims all of them")
