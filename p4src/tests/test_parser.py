"""The parser against some thousand random packets; `make parser-fuzz` sends a hundred thousand."""

import pytest
from chain_packets import Lot
from parser_fuzz import Run


@pytest.mark.parametrize(("backend", "count"), [("jit", 1500), ("interpreter", 1000)])
def test_packets_by_lot_are_forwarded_or_dropped_as_the_model_says(backend: str, count: int) -> None:
    run = Run(backend)
    for out, frame in Lot(6564).packets(count):
        run.packet(out, frame)
    run.finish()
    assert run.findings == []
    assert run.forwarded + run.dropped.total() == count
    assert run.forwarded > count // 2 and len(run.dropped) > 6
