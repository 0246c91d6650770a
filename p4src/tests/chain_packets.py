"""Random IPv6 packets: chains of extension headers as RFC 8200 allows them, and spoilt in many ways."""

import random
from collections.abc import Iterator

from scapy.layers.inet6 import IPv6

from small_site import FAR, HOST, IP_OF, ROUTER

KNOWN = (43, 44, 51, 60, 135, 139, 140)
UPPER = (6, 17, 33, 132, 136, 58, 59, 50, 41, 4, 143, 89, 1, 47)
UNASSIGNED = (148, 200, 253, 254)
FIXED_ADDRESSES = bytes(IPv6(src=IP_OF[1], dst=FAR))[8:40]
MACS = {to: bytes.fromhex((mac + HOST[1]).replace(":", "")) for to, mac in ((2, HOST[2]), (4, ROUTER[1]))}


class Lot:
    """Draws packets; the same ones for the same seed."""

    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)

    def packets(self, count: int) -> Iterator[tuple[int, bytes]]:
        """So many frames of the first host, each with the port by which it leaves if nothing is wrong with it."""
        for _ in range(count):
            yield self._frame()

    def _frame(self) -> tuple[int, bytes]:
        dice = self._dice
        headers = self._headers()
        upper = dice.choice(UPPER)
        payload = self._payload(upper)
        kinds = [kind for kind, _ in headers] + [upper]
        chain = bytearray()
        starts = []
        for (_, body), following in zip(headers, kinds[1:], strict=True):
            starts.append(len(chain))
            chain += bytes([following]) + body
        chain += payload
        length = len(chain)
        spoil = dice.random()
        if spoil < 0.10 and starts:  # a length that is not true
            chain[dice.choice(starts) + 1] = dice.randrange(256)
        elif spoil < 0.17 and chain:  # the packet ends early, and says so
            del chain[dice.randrange(len(chain)) :]
            length = len(chain)
        elif spoil < 0.22:  # a payload length that is not true
            length = dice.choice((0, max(0, length - dice.randrange(24)), length + dice.randrange(1, 24), 65535))
        elif spoil < 0.27 and chain:  # octets of no sense
            for _ in range(dice.randrange(1, 4)):
                chain[dice.randrange(len(chain))] = dice.randrange(256)
        version = dice.choice((4, 5, 7, 0)) if spoil > 0.995 else 6
        fixed = bytes([version << 4, 0, 0, 0]) + length.to_bytes(2) + bytes([kinds[0], 64])
        packet = fixed + FIXED_ADDRESSES + bytes(chain) + bytes(dice.choice((0, 0, 0, 6)))
        # What is too long for the router's MTU is bridged.
        out = 4 if len(packet) <= 1500 and length <= 1400 and dice.random() < 0.5 else 2
        frame = MACS[out] + b"\x86\xdd" + packet
        if 0.98 < spoil < 0.995:  # the frame itself ends early
            frame = frame[: dice.randrange(1, len(frame))]
        return out, frame

    def _headers(self) -> list[tuple[int, bytes]]:
        dice = self._dice
        first = [0] if dice.random() < 0.3 else []
        kinds = dice.choices(KNOWN, k=dice.choices(range(13), (20, 18, 14, 10, 8, 6, 5, 4, 4, 4, 4, 2, 1))[0])
        if dice.random() < 0.1:
            kinds.insert(dice.randint(0, len(kinds)), dice.choice(UNASSIGNED))
        if dice.random() < 0.04:
            kinds.insert(dice.randint(0, len(kinds)), 0)
        return [(kind, self._body(kind)) for kind in (*first, *kinds)]

    def _body(self, kind: int) -> bytes:
        """All of a header but its first octet."""
        dice = self._dice
        if kind == 44:
            offset, more = dice.choices(((0, 0), (0, 1), (dice.randrange(1, 8192), dice.randrange(2))), (6, 1, 1))[0]
            return b"\0" + (offset << 3 | more).to_bytes(2) + dice.randbytes(4)
        if kind == 51:
            words = dice.randint(1, 12)
            return bytes([words]) + bytes(2) + dice.randbytes(words * 4 + 4)
        eights = dice.choices((0, 1, 2, dice.randint(3, 20), dice.randint(21, 255)), (30, 20, 15, 10, 1))[0]
        size = eights * 8 + 6
        if kind in (0, 60):
            return bytes([eights]) + self._options(size)
        if kind == 43:  # of a type that no router here acts on
            return bytes([eights, dice.choice((0, 2, 5, 253)), dice.randrange(4)]) + dice.randbytes(size - 2)
        return bytes([eights]) + dice.randbytes(size)

    def _options(self, size: int) -> bytes:
        dice = self._dice
        options = b""
        while len(options) < size:
            left = size - len(options)
            if left == 1 or dice.random() < 0.2:
                options += b"\0"
            else:
                length = dice.randint(0, min(left - 2, 40))
                options += bytes([dice.choice((1, 0x1E, 0x3E)), length]) + bytes(length)
        return options

    def _payload(self, upper: int) -> bytes:
        dice = self._dice
        length = dice.choices((dice.randrange(8), dice.randint(8, 40), dice.randint(41, 300)), (1, 6, 3))[0]
        if upper == 58:
            return (bytes([128, 0]) + dice.randbytes(length))[:length]
        return dice.randbytes(length)
