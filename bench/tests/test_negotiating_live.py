"""Two running edges let hosts meet, with proofs and without."""

from __future__ import annotations

from bench.shim6.negotiating_live import HBA, MEETINGS, NONE, Met, measured, report


def test_hosts_meet_with_and_without_proofs() -> None:
    met = measured(1, [(NONE, 1), (HBA, 3)], pairs=1, meetings=1)
    assert sorted((each.kind, each.locators, each.meeting) for each in met) == [
        (HBA, 3, MEETINGS[0]),
        (NONE, 1, MEETINGS[0]),
    ]
    # The host's packet was there before the edge's I1, and that before the peer's R2.
    assert all(each.whole > each.exchange > 0 for each in met)


def test_each_kind_has_a_row_and_a_spread() -> None:
    met = [Met(HBA, 2, meeting, whole / 1e3, whole / 2e3) for meeting in MEETINGS for whole in range(10, 21)]
    _, first, second = report(met)
    assert first.split() == [
        "HBA",
        "never",
        "met",
        "2",
        "11",
        *["15.0", "11.0", "19.0", "20.0", "7.5", "5.5", "9.5", "10.0"],
    ]
    assert second.split()[:3] == ["HBA", "met", "before"]
