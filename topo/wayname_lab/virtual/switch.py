"""A switch on the virtual clock: the same engine as `wayname-switch`, with the lab's clock in its hand."""

from collections.abc import Callable, Iterable

from finsy import P4Schema
from finsy.p4entity import encode_entities
from finsy.proto import p4r
from wayname_switch import Output, Switch

from wayname.p4_constants import CPU_PORT
from wayname.pipeline.entries import Entity, everything
from wayname_lab.model import Quality
from wayname_lab.virtual.clock import MILLISECOND, Alarm, Clock
from wayname_lab.virtual.link import VirtualLink

# How often idle entries are asked for; wayname-switch does it about as often.
TICK = 100 * MILLISECOND
# How long a digest waits for others at most, as the controller asks for.
DIGEST_WAIT = MILLISECOND


class VirtualSwitch:
    """A switch that may be killed, and started again with empty tables."""

    def __init__(self, clock: Clock, name: str, program: str, schema: P4Schema) -> None:
        self.name = name
        self.ports: dict[int, VirtualLink] = {}
        # Who takes messages of P4Runtime by kind, in their serialized form; nobody while no controller is connected.
        self.tell: Callable[[str, bytes], None] | None = None
        self._clock = clock
        self._program = program
        self.schema = schema
        self._shapes: dict[int, Quality] = {}
        self._engine: Switch | None = None
        self._departure = Alarm(clock, self._depart)
        self._tick = Alarm(clock, self._ask)
        self._digests = Alarm(clock, self._hand_over_digests)

    @property
    def runs(self) -> bool:
        """Whether the switch is alive."""
        return self._engine is not None

    def connect(self, port: int, link: VirtualLink, quality: Quality) -> None:
        """Put a link on a port."""
        self.ports[port] = link
        self._shapes[port] = quality
        link.connect(self.name, lambda frame: self.receive(port, frame))

    def start(self) -> None:
        """Start with empty tables."""
        self._engine = Switch(self._program, cpu_port=CPU_PORT)
        for port, quality in self._shapes.items():
            if quality.rate is not None:
                self._engine.set_link(port, rate=quality.rate, queue=quality.queue or 64)
        self._tick.set(self._clock.now + TICK)

    def shape(self, port: int, rate: int, queue: int) -> None:
        """Send at this rate by a port from now on."""
        self._alive().set_link(port, rate=rate, queue=queue)

    def kill(self) -> None:
        """End without a word; what waits in queues is lost."""
        self._engine = None
        self._departure.set(None)
        self._tick.set(None)
        self._digests.set(None)

    def receive(self, port: int, frame: bytes) -> None:
        """Take a frame that arrives at a port."""
        if self._engine is not None:
            self._send(self._engine.inject(port, frame, self._clock.now))

    def packet_out(self, message: bytes) -> None:
        """Take a packet of the controller."""
        if self._engine is not None:
            self._send(self._engine.packet_out(message, self._clock.now))

    def write(self, request: bytes) -> list[tuple[int, str]]:
        """Carry out a WriteRequest; answer with a status for each update."""
        return self._alive().write(request, self._clock.now)

    def entities(self, wanted: Iterable[Entity] = tuple(everything())) -> list[p4r.Entity]:
        """Return what is wanted: everything that a controller may have written, unless it is said."""
        request = p4r.ReadRequest(entities=encode_entities(wanted, self.schema))
        return list(p4r.ReadResponse.FromString(self.read(request.SerializeToString())).entities)

    def read(self, request: bytes) -> bytes:
        """Answer a ReadRequest with a ReadResponse."""
        return self._alive().read(request, self._clock.now)

    def tables(self) -> list[str]:
        """Return the same as text without counters, times and keys, in an order of its own, to compare two moments."""
        texts = []
        for entity in self.entities():
            if entity.table_entry.is_default_action:
                continue  # the keys of hashes: others whenever the switch starts
            entity.table_entry.ClearField("counter_data")
            entity.table_entry.ClearField("time_since_last_hit")
            texts.append(str(entity))
        return sorted(texts)

    def acknowledge(self, message: bytes) -> None:
        """Take a DigestListAck."""
        if self._engine is not None:
            self._engine.acknowledge(message)

    def _alive(self) -> Switch:
        if self._engine is None:
            raise ConnectionError(f"the switch of {self.name} does not run")
        return self._engine

    def _depart(self) -> None:
        self._send(self._alive().advance(self._clock.now))

    def _ask(self) -> None:
        self._hand_over("idle", self._alive().idle_timeouts(self._clock.now))
        self._send(())
        self._tick.set(self._clock.now + TICK)

    def _send(self, outputs: Iterable[Output]) -> None:
        engine = self._alive()
        for output in outputs:
            link = self.ports.get(output.port)
            if link is not None:
                link.send(self.name, output.packet, output.at)
        self._departure.set(engine.next_departure())
        self._hand_over("packet", engine.packets_in())
        self._hand_over_digests()
        self._digests.set(self._clock.now + DIGEST_WAIT)

    def _hand_over_digests(self) -> None:
        self._hand_over("digest", self._alive().digests(self._clock.now))

    def _hand_over(self, kind: str, messages: list[bytes]) -> None:
        if self.tell is not None:
            for message in messages:
                self.tell(kind, message)
