"""The recorded session: which moments it takes of what stood on the terminal, and that they are one picture."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import click
import pytest

from bench.session import HOME, moments, picture, plain

WORKS, CUT = "\x1b[32ma 1════ p\x1b[0m", "\x1b[31ma 1xxx cut xxx p\x1b[0m"


def screen(number: int, link: str) -> str:
    return f"\x1b[2J{number}: {link}\r\n page  http://127.0.0.1:1/#token=secret-0&edges=a\r\n keys  q quit"


def written() -> str:
    """What a lab wrote that was cut at its fourth screen and whole again at its ninth."""
    screens = [screen(number, CUT if 4 <= number < 9 else WORKS) for number in range(1, 12)]
    return f"== ready\r\n\x1b[?1049h{''.join(HOME + each for each in screens)}\x1b[?1049l\r\n== traffic flowed\r\n"


def test_moments_follow_from_the_cut() -> None:
    *shown, end = moments(written())
    assert [int(plain(each).split(":")[0]) for each in shown] == [3, 4, 7, 9, 11]
    assert "== ready" in end and "== traffic flowed" in end


def test_a_run_without_a_cut_is_refused() -> None:
    with pytest.raises(click.ClickException, match="no link was cut"):
        moments(written().replace("cut", "===").replace("xxx", "==="))


def test_the_picture_has_all_moments_and_no_secret() -> None:
    drawn = picture(moments(written()))
    root = ElementTree.fromstring(drawn)
    found = [each.get("id") for each in root.iter() if each.get("class") == "moment"]
    assert found == [f"m{number}" for number in range(6)]
    assert "cut" in drawn and "secret" not in drawn
    assert "http://" not in drawn.replace("http://www.w3.org/2000/svg", "").replace("http://127.0.0.1:1/", "")
