"""One request's page: its stages, and its chunks against playback."""

from __future__ import annotations

from datetime import UTC, datetime

from tests.console.conftest import SignIn
from tests.ttsapp.conftest import Party
from tests.ttsapp.seeded import use
from ttsapp.speech.timeline import Chunk, Timeline

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
CHUNKS = (Chunk(140, 0, 80), Chunk(150, 80, 160), Chunk(500, 240, 80, True))


def shown(sign_in: SignIn, alice: Party, timeline: Timeline | None) -> str:
    request = use(alice.tenant, alice.key, NOON, audio_ms=320, timeline=timeline)
    return sign_in("viewer").get(f"/console/alice/requests/{request}").content.decode()


def test_it_works(sign_in: SignIn, alice: Party) -> None:
    page = shown(sign_in, alice, Timeline(4, 9, False, CHUNKS))

    for kind, name, took, until in (
        ("admission", "text made ready, limits asked", "4", "4"),
        ("queue", "taken by the engine", "5", "9"),
        ("first", "until first audio", "131", "140"),
        ("audio", "until the last chunk", "360", "500"),
        ("end", "until the last byte", "3", "503"),
    ):
        assert (
            f'<span class="key {kind}"></span>{name}</th><td class="number">{took}</td>'
            f'<td class="number">{until}</td>'
        ) in page


def test_an_underrun_is_marked(sign_in: SignIn, alice: Party) -> None:
    page = shown(sign_in, alice, Timeline(4, 9, False, CHUNKS))

    assert "playback had to wait for us 1 time<" in page
    assert page.count('<rect class="late"') == 1
    assert (
        "Chunk 3: 80 ms of audio after 500 ms, played from 500 ms; playback waited 120 ms for us"
        in page
    )
    assert '<span class="pill error">120 ms for us</span>' in page


def test_a_pause_that_was_not_ours_is_none(sign_in: SignIn, alice: Party) -> None:
    late = Chunk(500, 240, 80)
    page = shown(sign_in, alice, Timeline(4, 9, False, (*CHUNKS[:2], late)))

    assert "none came too late" in page
    assert "<td>120 ms for text or reader</td>" in page
    assert 'class="late"' not in page


def test_what_is_in_hand_before_each_chunk(sign_in: SignIn, alice: Party) -> None:
    page = shown(sign_in, alice, Timeline(4, 9, False, CHUNKS))
    numbers = ("150", "160", "220", "70")
    cells = "".join(f'<td class="number">{number}</td>' for number in numbers)
    assert f'<th scope="row">2</th>{cells}' in page


def test_an_answer_that_was_sent_whole_has_no_playback(sign_in: SignIn, alice: Party) -> None:
    page = shown(sign_in, alice, Timeline(4, 9, True, CHUNKS[:2]))
    assert "nobody listened while they were made" in page
    assert 'class="played"' not in page
    assert "Played from" not in page


def test_chunks_that_are_not_kept_are_told(sign_in: SignIn, alice: Party) -> None:
    page = shown(sign_in, alice, Timeline(4, 9, False, CHUNKS, left_out=7))
    assert "7 more chunks came in time and are not kept." in page


def test_what_an_earlier_version_logged_has_its_stages(sign_in: SignIn, alice: Party) -> None:
    page = shown(sign_in, alice, None)
    assert "until first audio" in page
    assert 'id="chunks"' not in page


def test_what_is_not_kept_of_a_request_is_said(sign_in: SignIn, alice: Party) -> None:
    page = shown(sign_in, alice, None)
    assert "Its settings were not kept: an earlier version logged it." in page
