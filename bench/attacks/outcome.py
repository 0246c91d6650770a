"""What an attack did: figures of each window, and of all its draws together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from bench.attacks.attack import Attack
from bench.attacks.users import Window

# Fewer packets to the controller, or frames of an attacker, say nothing of what each of them costs.
LEAST_PUNTS, LEAST_FRAMES = 100, 2000
# Nobody is kept waiting where no gap is longer, and so many are admitted.
SERVED_GAP, SERVED_SHARE = 0.4, 0.5
# Fewer attempts say nothing of a rate.
LEAST_ATTEMPTS = 12
# The wire of most floods, and guests who come by it.
FLOODED, SAME_PORT = "a-p", " by p"
OTHERS = "others"
Admissions = Mapping[str, tuple[int, int]]  # by kind: begun, admitted


@dataclass(frozen=True, slots=True)
class Span:
    """What was seen in a window: by users, guests, the controller and the kernel."""

    seconds: float
    users: Window
    admissions: Admissions
    processor: float  # of the controller, seconds
    switch: float
    punts: int
    moved: int = 0  # sessions of the hosts, or lost
    next_hops_down: int = 0
    deaths: int = 0  # of controller and switch

    @property
    def is_served(self) -> bool:
        """Whether nobody is kept waiting."""
        admitted = share([self.admissions], lambda kind: "").get("", 0.0)
        return self.users.longest_gap < SERVED_GAP and admitted >= SERVED_SHARE


@dataclass(frozen=True, slots=True)
class Sent:
    """What an attacker sent, and what came of it."""

    frames: int = 0
    octets: int = 0
    refused: int = 0
    seconds: float = 0.0
    to_forged: int = 0
    to_forged_octets: int = 0
    to_mallory: int = 0
    flooded_unicast: int = 0
    rogue_advertisements: int = 0
    rogue_dhcp: int = 0
    spoofed: int = 0
    log_octets: int = 0  # that the controller wrote to its log

    @property
    def rate(self) -> float:
        """Frames a second."""
        return self.frames / self.seconds if self.seconds else 0.0

    @property
    def amplification(self) -> float:
        """Octets towards sources that were made up, over those that bore them."""
        return self.to_forged_octets / self.octets if self.octets else 0.0


@dataclass(frozen=True, slots=True)
class Run:
    """One draw."""

    sent: Sent
    during: Span
    wanted: tuple[int, int] = (0, 0)  # what others wanted beside, and got: what `Attack.against` says


@dataclass(slots=True)
class Outcome:
    """An attack with all its draws, beside the time before."""

    attack: Attack
    before: Span
    wanted_before: tuple[int, int] = (0, 0)
    runs: list[Run] = field(default_factory=list)
    memory: int = 0  # octets of controller and switch, more than before
    entries: dict[str, int] = field(default_factory=dict)  # more than before
    after: float = 0.0  # seconds from the end of a draw until users were served as before, the longest

    def each(self, figure: Callable[[Run], float]) -> list[float]:
        """Return a figure of each draw."""
        return [figure(run) for run in self.runs]

    @property
    def gaps(self) -> list[float]:
        """The longest gap of any user in each draw, in seconds."""
        return self.each(lambda run: run.during.users.longest_gap)

    @property
    def admissions(self) -> dict[str, float]:
        """By kind: which share of attempts was admitted, over that before."""
        begun = Counter[str]()
        for run in self.runs:
            begun.update({kind: count for kind, (count, _) in run.during.admissions.items()})
        return {
            kind: share for kind, share in self._admitted(lambda kind: kind).items() if begun[kind] >= LEAST_ATTEMPTS
        }

    @property
    def others(self) -> float:
        """Which share of the attempts of others was admitted, over that before: of those who come by another port."""
        return self._admitted(self._port).get(OTHERS, 0.0)

    @property
    def others_a_second(self) -> tuple[float, float]:
        """How many of them were admitted a second before and during the attack."""
        return self._a_second([self.before]), self._a_second([run.during for run in self.runs])

    def _a_second(self, spans: Sequence[Span]) -> float:
        admitted = sum(
            count for one in spans for kind, (_, count) in one.admissions.items() if self._port(kind) == OTHERS
        )
        return admitted / max(1e-9, sum(one.seconds for one in spans))

    def _port(self, kind: str) -> str:
        is_attackers = self.attack.wire == FLOODED and kind.endswith(SAME_PORT)
        return "" if is_attackers else OTHERS

    def _admitted(self, sort: Callable[[str], str]) -> dict[str, float]:
        shares = share((run.during.admissions for run in self.runs), sort)
        before = share([self.before.admissions], sort)
        return {kind: shares[kind] / before[kind] for kind in shares if before.get(kind)}

    @property
    def least_admitted(self) -> tuple[str, float]:
        """The kind that suffered most."""
        return min(self.admissions.items(), key=lambda item: item[1], default=("", 1.0))

    @property
    def granted(self) -> float | None:
        """Which share of what others wanted they got, over that before; None where it was not asked."""
        wanted, got = (sum(run.wanted[index] for run in self.runs) for index in (0, 1))
        if not wanted or not self.wanted_before[1]:
            return None
        return got / wanted / (self.wanted_before[1] / self.wanted_before[0])

    @property
    def punts(self) -> int:
        """Packets that went to the controller because of the attack."""
        usual = self.before.punts / self.before.seconds
        return max(0, round(sum(run.during.punts - usual * run.during.seconds for run in self.runs)))

    @property
    def processor(self) -> float:
        """Processor seconds of the controller because of the attack."""
        usual = self.before.processor / self.before.seconds
        return max(0.0, sum(run.during.processor - usual * run.during.seconds for run in self.runs))

    @property
    def processor_a_punt(self) -> float | None:
        """What each packet to the controller cost it, in seconds; None if there were too few."""
        return self.processor / self.punts if self.punts >= LEAST_PUNTS else None

    @property
    def processor_a_message(self) -> float | None:
        """What each frame of the attacker cost the controller, in seconds; None if there were too few."""
        frames = self.total(lambda run: run.sent.frames)
        return self.processor / frames if frames >= LEAST_FRAMES else None

    @property
    def load(self) -> float:
        """Which share of a processor the controller used during the attack."""
        return sum(run.during.processor for run in self.runs) / max(1e-9, sum(run.during.seconds for run in self.runs))

    def total(self, figure: Callable[[Run], int]) -> int:
        """Return a figure of all draws together."""
        return sum(figure(run) for run in self.runs)


def share(several: Iterable[Admissions], sort: Callable[[str], str] = lambda kind: kind) -> dict[str, float]:
    """Return which share of attempts was admitted, by kind or by sorts of them."""
    begun, admitted = Counter[str](), Counter[str]()
    for one in several:
        for kind, (first, second) in one.items():
            begun[sort(kind)] += first
            admitted[sort(kind)] += second
    return {each: admitted[each] / begun[each] for each in begun if begun[each]}
