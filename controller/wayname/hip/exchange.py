"""The base exchange (RFC 7401, sections 6.7 to 6.10): what is checked of R1, I2 and R2, and what answers them.

Nothing is changed here but numbers given out: a message that is refused leaves all as it was.
"""

from __future__ import annotations

import random
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from ipaddress import IPv6Address

from wayname.hip.admission_control import Limits, PuzzleDifficulty
from wayname.hip.association import Association, Esp, LocalHost, Names, Secured, Tags, Transport
from wayname.hip.associations import Associations
from wayname.hip.ciphers import Cipher, decrypt, encrypt
from wayname.hip.errors import MessageError, NoProposalError, NotifyType, ProofError
from wayname.hip.esp.associations import FIRST_SPI
from wayname.hip.esp.keys import draw_keys
from wayname.hip.esp.suites import SUITES, SuiteId
from wayname.hip.groups import KeyPair, known_group, make_pair
from wayname.hip.identities import public_key
from wayname.hip.keymat import Keymat
from wayname.hip.messages import Kind, Message, decode_parameters, encode, encode_parameters, solution_at
from wayname.hip.parameters import (
    DhGroupList,
    DiffieHellman,
    Encrypted,
    HipCipher,
    HitSuiteList,
    HostId,
    Parameter,
    Puzzle,
    R1Counter,
    Solution,
)
from wayname.hip.proofs import check_mac, check_r1, check_signature, seal_answer
from wayname.hip.puzzles import Asked, Puzzles, check_difficulty, solve
from wayname.hip.r1_pool import KNOWN_SUITES, R1Pool
from wayname.hip.settings import Settings
from wayname.hip.suites import hit_of, rhash_of, suite_of
from wayname.hip.transports import EspInfo, EspTransform, Tagged, TransportFormatList
from wayname.session.keys import Pair

MOST_COUNTERS = 10_000

# Says why somebody may not have an association with a host here, or None: by the tag and the address that it has, or
# claims before it has proven them.
Policy = Callable[[Names, Pair], str | None]


class RefusedError(MessageError):
    """A peer that is who it says it is, and is not wanted or chose what was not offered."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What answers a message, and what it agrees on."""

    octets: bytes
    secured: Secured
    transport: Transport


class Exchange:
    """Makes and takes the messages of the base exchange."""

    def __init__(
        self,
        hosts: Mapping[IPv6Address, LocalHost],
        associations: Associations,
        settings: Settings,
        rng: random.Random,
        policy: Policy,
        limits: Limits,
        first_counter: int,
    ) -> None:
        self._hosts = hosts
        self._associations = associations
        self._settings = settings
        self._rng = rng
        self._policy = policy
        self._limits = limits
        self._puzzles = Puzzles(rng)
        self._replies = R1Pool(settings, self._puzzles, rng, first_counter)
        self._difficulty = PuzzleDifficulty(
            settings.least_difficulty, settings.max_difficulty, settings.exchanges_per_second
        )
        # Only in memory, as section 6.16 has it; the oldest go first.
        self._counters: OrderedDict[IPv6Address, int] = OrderedDict()

    def i1(self, names: Names) -> bytes:
        """Return the first message."""
        return encode(Message(Kind.I1, names.local, names.peer, (DhGroupList(self._settings.groups),)))

    def is_wanted(self, names: Names, pair: Pair) -> bool:
        """Tell whether somebody may have an association here who is what it claims to be."""
        return self._policy(names, pair) is None

    def r1(self, message: Message, pair: Pair, now: float) -> bytes:
        """Return the answer to an I1; nothing is kept of it."""
        identity = self._hosts[message.receiver].identity
        groups = message.need(DhGroupList).groups
        asked = Asked(message.sender, message.receiver, pair.peer, pair.local)
        return self._replies.r1(identity, groups, asked, self._difficulty.now(now), now)

    def check_r1(self, association: Association, octets: bytes, message: Message) -> None:
        """Raise MessageError unless an R1 is its sender's, and no older than the one before (section 6.8)."""
        host = message.need(HostId)
        if hit_of(host) != message.sender:
            raise ProofError(f"the identity in R1 is that of {hit_of(host)}, not of {message.sender}")
        counter = message.find(R1Counter)
        known = max(association.peer_counter, self._counters.get(message.sender, -1))
        if counter is not None and counter.counter < known:
            raise ProofError(f"R1 with counter {counter.counter}; {known} was seen before")
        # Before its signature, which costs more to check than to forge.
        check_difficulty(message.need(Puzzle), self._settings.most_solved)
        check_r1(octets, message, host)

    def difficulty(self, now: float) -> int:
        """Return how difficult the next puzzle is."""
        return self._difficulty.now(now)

    def i2(self, association: Association, message: Message, now: float) -> Answer:
        """Return the answer to an R1: solve its puzzle, choose from what it offers, derive keys."""
        names = association.names
        identity = self._hosts[names.local].identity
        if (reason := self._policy(names, association.exchange)) is not None:
            raise RefusedError(reason)
        if suite_of(names.local) not in message.need(HitSuiteList).suites:
            raise NoProposalError(f"{names.peer} does not know the suite of {names.local}")
        offered = message.need(DiffieHellman)
        best = next((one for one in message.need(DhGroupList).groups if one in self._settings.groups), None)
        if offered.group != best:
            raise ProofError(f"R1 has Diffie-Hellman group {offered.group}; the best that both know is {best}")
        cipher = self._choose_cipher(message.need(HipCipher))
        asked = Asked(names.local, names.peer, association.local, association.peer.current)
        solution = solve(message.need(Puzzle), asked, self._rng, self._settings.most_solved)
        pair = make_pair(known_group(offered.group), self._rng)
        rhash = rhash_of(names.peer)
        secured = self._secure(names, names.peer, message.need(HostId), cipher, pair, offered.value, solution)
        chosen = self._choose_format(message)
        transport = self._own_half(names, secured, chosen)
        told: Parameter = identity.host
        if self._settings.hides_identity:
            hidden = encode_parameters([identity.host])
            told = Encrypted(encrypt(cipher, secured.outgoing.encryption, hidden, self._rng))
        counter = message.find(R1Counter)
        parameters: list[Parameter] = [
            *([] if counter is None else [counter]),
            solution,
            DiffieHellman(pair.group, pair.public),
            HipCipher((cipher,)),
            told,
            TransportFormatList((chosen.number,)),
            *_tell(transport, secured.keymat.at, chosen),
            *self._reports(names),
        ]
        i2 = Message(Kind.I2, names.local, names.peer, tuple(parameters))
        return Answer(seal_answer(i2, message, identity, secured.outgoing.integrity, rhash), secured, transport)

    def remember_counter(self, message: Message) -> int:
        """Remember the counter of an R1 that was answered."""
        counter = message.find(R1Counter)
        if counter is not None:
            self._counters[message.sender] = counter.counter
            self._counters.move_to_end(message.sender)
            if len(self._counters) > MOST_COUNTERS:
                self._counters.popitem(last=False)
        return -1 if counter is None else counter.counter

    def r2(self, octets: bytes, message: Message, pair: Pair, now: float) -> Answer:
        """Return the answer to an I2 that is whole and its sender's; the puzzle is checked first (section 6.9)."""
        names = Names(message.receiver, message.sender)
        identity = self._hosts[names.local].identity
        if suite_of(names.peer) not in KNOWN_SUITES:
            raise MessageError(f"the suite of {names.peer} is not known here")
        solution = message.need(Solution)
        try:
            self._puzzles.check(Asked(names.peer, names.local, pair.peer, pair.local), solution, now)
        except ProofError as error:
            raise ProofError(str(error), pointer=solution_at(octets)) from None
        if not self._limits.tries(self.is_wanted(names, pair)).may(pair.peer, now):
            raise ProofError(f"more I2s come from the prefix of {pair.peer}, or from all, than are looked at")
        self._puzzles.spend(solution, now)
        self._difficulty.note(now)
        value, counter = message.need(DiffieHellman), message.find(R1Counter)
        ours = self._replies.pair(value.group, counter)
        cipher = self._chosen_cipher(message.need(HipCipher))
        secured = self._secure(names, names.local, None, cipher, ours, value.value, solution)
        # Whoever derives other keys cannot have made this MAC: checked before anything dearer.
        check_mac(octets, message, identity.host, secured.incoming.integrity, secured.rhash)
        secured.peer = host = _host_of(message, cipher, secured)
        if hit_of(host) != names.peer:
            raise ProofError(
                f"the identity in I2 is that of {hit_of(host)}, not of {names.peer}", NotifyType.INVALID_HIT
            )
        check_signature(octets, message, host)
        if (reason := self._policy(names, pair)) is not None:
            raise RefusedError(reason, NotifyType.BLOCKED_BY_POLICY)
        chosen, index = self._chosen_format(message), secured.keymat.at
        number = _peer_number(message, chosen, index)
        transport = _complete(self._own_half(names, secured, chosen), number, names, secured)
        self._puzzles.exhaust(solution, now)
        self._replies.served(counter, now)
        r2 = Message(Kind.R2, names.local, names.peer, (*_tell(transport, index, None), *self._reports(names)))
        sealed = seal_answer(r2, message, identity, secured.outgoing.integrity, secured.rhash)
        return Answer(sealed, secured, transport)

    def check_r2(self, association: Association, octets: bytes, message: Message) -> Transport:
        """Return what an R2 agrees on; raise MessageError if it is not its sender's (section 6.10)."""
        secured, transport = association.secured, association.transport
        if secured is None or transport is None:
            raise MessageError("R2 where no I2 was sent")
        check_mac(octets, message, secured.peer, secured.incoming.integrity, secured.rhash)
        check_signature(octets, message, secured.peer)
        number = _peer_number(message, transport, secured.keymat.at)
        return _complete(transport, number, association.names, secured)

    def _secure(
        self,
        names: Names,
        responder: IPv6Address,
        peer: HostId | None,
        cipher: Cipher,
        pair: KeyPair,
        public: bytes,
        solution: Solution,
    ) -> Secured:
        rhash = rhash_of(responder)
        salt = solution.random + solution.solution
        keymat = Keymat.of(pair.shared_with(public), salt, names, rhash)
        outgoing, incoming = keymat.draw_hip_keys(cipher, rhash, *names)
        unknown = HostId(0, b"")
        kept = replace(pair, key=None)
        return Secured(peer or unknown, rhash, cipher, kept, public, salt, keymat, outgoing, incoming)

    def _reports(self, names: Names) -> list[Parameter]:
        told = self._hosts[names.local].path_reports
        return [] if told is None else [told]

    def _choose_cipher(self, offered: HipCipher) -> Cipher:
        for number in offered.ciphers:
            if number in self._settings.ciphers:
                return Cipher(number)
        raise NoProposalError(f"none of the ciphers {list(offered.ciphers)} is used here")

    def _chosen_cipher(self, chosen: HipCipher) -> Cipher:
        """Return what an I2 chose (section 6.9, step 9)."""
        if len(chosen.ciphers) != 1 or chosen.ciphers[0] not in self._settings.ciphers:
            text = f"I2 with ciphers {list(chosen.ciphers)}, not one that was offered"
            raise RefusedError(text, NotifyType.INVALID_HIP_CIPHER_CHOSEN)
        return Cipher(chosen.ciphers[0])

    def _chosen_format(self, message: Message) -> EspTransform | Tagged:
        """Return what an I2 chose (section 5.3.3; RFC 7402, section 6.5)."""
        formats, esp = message.need(TransportFormatList).formats, message.find(EspTransform)
        if len(formats) != 1:
            raise RefusedError(f"I2 with transport formats {list(formats)}, not one", NotifyType.INVALID_SYNTAX)
        if formats[0] == EspTransform.number and esp is not None and len(esp.suites) != 1:
            text = f"I2 with suites {list(esp.suites)} of ESP, not one"
            raise RefusedError(text, NotifyType.INVALID_ESP_TRANSFORM_CHOSEN)
        try:
            return self._choose_format(message)
        except NoProposalError as error:
            raise RefusedError(str(error), NotifyType.INVALID_ESP_TRANSFORM_CHOSEN) from None

    def _choose_format(self, message: Message) -> EspTransform | Tagged:
        """Choose the first format that both know and whose parameter is there (section 5.2.11)."""
        for number in message.need(TransportFormatList).formats:
            if number not in self._settings.formats:
                continue
            esp, tagged = message.find(EspTransform), message.find(Tagged)
            if number == Tagged.number and tagged is not None:
                return tagged
            if number == EspTransform.number and esp is not None:
                for suite in esp.suites:
                    if suite in self._settings.esp_suites:
                        return EspTransform((suite,))
        raise NoProposalError("none of the transport formats is used here")

    def _own_half(self, names: Names, secured: Secured, chosen: EspTransform | Tagged) -> Transport:
        if isinstance(chosen, Tagged):
            return Tags(self._associations.new_tag(names), 0)
        suite = SuiteId(chosen.suites[0])
        outgoing, incoming = draw_keys(secured.keymat.ahead().draw, SUITES[suite], *names)
        return Esp(suite, self._associations.new_spi(names), 0, outgoing, incoming)


def _tell(transport: Transport, index: int, chosen: EspTransform | Tagged | None) -> list[Parameter]:
    """Return what the peer's packets are to bear, and which suite they are to use if it did not choose that."""
    if isinstance(transport, Tags):
        return [Tagged(transport.tag)]
    info = EspInfo(index, 0, transport.spi)
    return [info] if chosen is None else [info, chosen]


def _peer_number(message: Message, format_of: Transport | EspTransform | Tagged, index: int) -> int:
    """Return what packets to the peer are to bear."""
    if isinstance(format_of, Tags | Tagged):
        return message.need(Tagged).tag
    info = message.need(EspInfo)
    if info.keymat_index != index:
        text = f"keys of ESP from octet {info.keymat_index} on; they begin at {index}"
        raise MessageError(text, NotifyType.INVALID_SYNTAX)
    # RFC 7402, section 6.5, and RFC 4303, section 2.1.
    if info.old_spi or info.new_spi < FIRST_SPI:
        raise MessageError(f"a first SPI {info.new_spi:#x} after {info.old_spi:#x}", NotifyType.INVALID_SYNTAX)
    return info.new_spi


def _complete(ours: Transport, peer_number: int, names: Names, secured: Secured) -> Transport:
    """Return a transport of which both halves are known; its keys are drawn for good."""
    if isinstance(ours, Tags):
        return Tags(ours.tag, peer_number)
    outgoing, incoming = draw_keys(secured.keymat.draw, SUITES[ours.suite], *names)
    return Esp(ours.suite, ours.spi, peer_number, outgoing, incoming)


def _host_of(message: Message, cipher: Cipher, secured: Secured) -> HostId:
    """Return the initiator's identity, which may be hidden."""
    encrypted = message.find(Encrypted)
    if encrypted is None:
        return message.need(HostId)
    try:
        plain = decrypt(cipher, secured.incoming.encryption, encrypted.data)
    except ProofError as error:
        raise ProofError(str(error), NotifyType.ENCRYPTION_FAILED) from None
    for one in decode_parameters(plain):
        if isinstance(one, HostId):
            public_key(one)
            return one
    raise MessageError("what is encrypted in I2 holds no identity")
