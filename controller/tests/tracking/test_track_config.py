"""What may be written of tracked providers."""

from __future__ import annotations

from ipaddress import IPv6Address

import pytest
from tracking.tracked_site import T1, T2, site

from wayname.composition.configuration import parse_config
from wayname.config.tables import ConfigError
from wayname.config.track import ProbeKind, Track


def rules(track: str) -> Track:
    found = parse_config(site(track)).providers[0].track
    assert found is not None
    return found


def test_a_list_of_addresses_is_enough() -> None:
    found = rules(f'track = ["{T1}", "{T2}"]')
    assert [each.address for each in found.targets] == [IPv6Address(T1), IPv6Address(T2)]
    assert {each.probe for each in found.targets} == {ProbeKind.ICMP}
    assert found.interval * found.down + found.timeout <= 3


def test_a_table_says_more() -> None:
    found = rules(
        f'[provider.track]\ntargets = ["{T1}", {{ address = "{T2}", probe = "tcp", port = 443 }},'
        f' {{ address = "{T2}", probe = "dns", name = "example.org" }}]\nreliability = 2\nquiet = 30'
    )
    assert list(map(str, found.targets)) == [T1, f"TCP [{T2}]:443", f"DNS {T2} example.org."]
    assert (found.reliability, found.quiet) == (2, 30)


@pytest.mark.parametrize(
    ("track", "wrong"),
    [
        ("track = []", "provider[0].track.targets: has 0; write 1 to 8 targets"),
        ('track = ["fe80::1"]', "'fe80::1' is wrong (packets are not sent there)"),
        ('track = ["2001:db8:101::5"]', "is in the provider's own prefix"),
        (f'track = ["{T1}", "{T1}"]', "is there twice"),
        (f'track = [{{ address = "{T1}", probe = "tcp" }}]', "targets[0].port: is missing"),
        (f'track = [{{ address = "{T1}", probe = "dns" }}]', "targets[0].name: is missing"),
        (f'track = [{{ address = "{T1}", port = 80 }}]', 'write probe = "tcp"'),
        (f'track = [{{ address = "{T1}", probe = "arp" }}]', "write one of"),
        (f'track = {{ targets = ["{T1}"], reliability = 2 }}', "write a number from 1 to 1"),
        (f'track = {{ targets = ["{T1}"], delay = 1.5 }}', "write less than timeout"),
        (f'track = {{ targets = ["{T1}"], interval = 0 }}', "write a number from 0.1 to 3600"),
    ],
)
def test_mistakes_name_the_key_and_the_mend(track: str, wrong: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parse_config(site(track))
    assert wrong in str(refused.value)
    assert len(refused.value.lines) == 1
