"""The playground as a person meets it: two takes, heard while the real engine makes them."""

from __future__ import annotations

import io
import re
import wave

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.chromium import needs_chromium
from ttsapp.speech.encoders.plain import Raw

pytestmark = [needs_chromium, pytest.mark.timeout(1200)]

PLAYGROUND = "/console/default/playground"
MP3 = b"\xff\xf3"
TEXT = "It's a quiet morning."


def side(page: Page, name: str) -> Locator:
    return page.locator(f"form[data-side='{name}']")


def told(take: Locator, what: str) -> Locator:
    return take.locator(f"[data-part='{what}']")


def spoken(page: Page, name: str = "A", text: str = TEXT) -> Locator:
    """A take, heard to its end and settled."""
    page.fill("#text", text)
    take = side(page, name)
    take.get_by_role("button", name=f"Speak {name}").click()
    expect(told(take, "ended")).to_have_text("stop")
    expect(told(take, "status")).to_have_text("Played to its end.")
    return take


def test_a_sentence_is_spoken_and_its_cost_is_told(page: Page) -> None:
    page.goto(PLAYGROUND)
    page.fill("#seed-A", "7")
    take = spoken(page)

    assert re.fullmatch(r"\d+ ms", told(take, "firstAudio").inner_text())
    assert told(take, "underruns").inner_text().isdigit()
    assert float(told(take, "audio").inner_text().removesuffix(" s")) > 0.5
    assert told(take, "cost").inner_text().endswith(f"{len(TEXT)} characters")
    assert told(take, "seed").inner_text() == "7"
    told(take, "ended").locator("a").click()
    expect(page.locator("main")).to_contain_text(f"{len(TEXT)} (completed)")
    assert page.locator(".chunks rect.come").count() > 1


def test_a_click_that_comes_before_the_script_is_not_lost(page: Page) -> None:
    """There is nothing to click until it is there."""
    held: list[Route] = []
    page.route("**/playground.js", lambda route: held.append(route))
    page.goto(PLAYGROUND, wait_until="commit")
    buttons = page.get_by_role("button", name=re.compile("^Speak"))
    expect(buttons).to_have_count(3)
    assert [button.is_enabled() for button in buttons.all()] == [False] * 3

    held[0].continue_()
    assert told(spoken(page), "ended").inner_text() == "stop"


def test_a_request_is_tried_again_with_its_voice_and_seed(page: Page) -> None:
    page.goto(PLAYGROUND)
    page.select_option("#voice-A", index=2)
    voice = page.input_value("#voice-A")
    page.fill("#seed-A", "7")
    take = spoken(page)
    page.select_option("#voice-A", index=0)
    page.fill("#seed-A", "")
    told(take, "ended").locator("a").click()
    page.click("text=Its settings in the playground")

    assert page.input_value("#voice-A") == voice
    assert page.input_value("#seed-A") == "7"


def test_words_light_up_while_they_are_heard(page: Page) -> None:
    page.goto(PLAYGROUND)
    page.evaluate(
        """lit = [];
        new MutationObserver((changes) => changes.forEach(({ target }) =>
            target.className === "now" && lit.push(target.textContent)))
        .observe(document.querySelector("form[data-side='A'] .words"),
            { attributes: true, subtree: true })"""
    )
    text = "It is a quiet morning, and the sea is very calm today."
    take = spoken(page, text=text)
    take.get_by_role("button", name="Play again").click()
    expect(told(take, "status")).to_have_text("Playing it again.")
    expect(told(take, "status")).to_have_text("Played to its end.")

    words = take.locator(".words span.said").all_inner_texts()
    assert " ".join(words) == text
    assert page.evaluate("lit")[-len(words) :] == words


def test_two_takes_stand_side_by_side_and_both_are_kept(page: Page) -> None:
    page.goto(PLAYGROUND)
    page.fill("#text", TEXT)
    page.fill("#speed-B", "1.5")
    page.click("#both")
    one, other = side(page, "A"), side(page, "B")
    expect(told(other, "ended")).to_have_text("stop")
    expect(told(one, "ended")).to_have_text("stop")

    assert one.locator("[name=voice]").input_value() != other.locator("[name=voice]").input_value()
    rows = page.locator("#list tr")
    assert [row.inner_text()[0] for row in rows.all()] == ["B", "A"]
    assert "at 1.5" in rows.first.inner_text()
    expect(one.get_by_role("button", name="Play again")).to_be_enabled()
    expect(other.get_by_role("button", name="Play again")).to_be_enabled()


def test_an_earlier_take_is_heard_again_from_the_table(page: Page) -> None:
    page.goto(PLAYGROUND)
    take = spoken(page, text="One.")
    spoken(page, text="Two.")
    page.locator("#list tr").last.get_by_role("button", name="Play").click()
    expect(told(take, "words")).to_have_text("One.")
    expect(told(take, "status")).to_have_text("Played to its end.")


def test_a_take_can_be_kept_as_a_file(page: Page) -> None:
    page.goto(PLAYGROUND)
    take = spoken(page)
    with page.expect_download() as download:
        take.get_by_role("button", name="WAV").click()
    with wave.open(io.BytesIO(download.value.path().read_bytes())) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (24_000, 1, 2)
        seconds = file.getnframes() / 24_000
    assert told(take, "audio").inner_text() == f"{seconds:.1f} s"


def test_a_take_can_be_stopped_by_keyboard(page: Page) -> None:
    page.goto(PLAYGROUND)
    page.fill("#text", "This sentence goes on for a while, and then on, and on. " * 8)
    page.focus("#text")
    page.keyboard.press("Control+Enter")
    take = side(page, "A")
    expect(told(take, "status")).to_have_text("Speaking.")
    take.get_by_role("button", name="Stop").focus()
    page.keyboard.press("Enter")
    expect(told(take, "status")).to_have_text("Stopped.")
    expect(told(take, "ended")).to_have_text("cancelled")


def test_what_was_typed_is_kept_and_quoted_for_a_shell(page: Page) -> None:
    page.goto(PLAYGROUND)
    page.fill("#text", TEXT)
    page.select_option("#voice-B", index=2)
    voice = page.input_value("#voice-B")
    page.click("nav >> text=Keys")
    page.click("nav >> text=Playground")

    assert page.input_value("#text") == TEXT
    assert page.input_value("#voice-B") == voice
    page.select_option("#shown", "B")
    command = page.inner_text("#command")
    assert r"It'\''s a quiet morning." in command
    assert f'"voice":"{voice}"' in command
    assert "stream_format" not in command


def test_a_take_is_told_as_a_call_of_openais_clients(page: Page) -> None:
    page.goto(PLAYGROUND)
    page.fill("#text", TEXT)
    page.fill("#seed-A", "7")
    page.select_option("#language", "python")
    python = page.inner_text("#command")
    compile(python, "command", "exec")
    assert f'    input="{TEXT}",\n' in python
    assert '    extra_body={"seed":7},\n' in python

    page.select_option("#language", "javascript")
    assert '  response_format: "wav",\n  seed: 7,\n' in page.inner_text("#command")


def test_a_call_has_the_seed_of_the_take_that_was_heard(page: Page) -> None:
    page.goto(PLAYGROUND)
    seed = told(spoken(page), "seed").inner_text()
    command = page.locator("#command")
    assert f'"seed":{seed}}}' in command.inner_text()
    page.fill("#text", "Another text.")
    assert "seed" not in command.inner_text()


def test_a_take_has_a_language_instructions_and_a_sample_rate(page: Page) -> None:
    page.goto(PLAYGROUND)
    take = side(page, "A")
    take.locator("[name=language]").select_option("english")
    take.locator("[name=instructions]").fill("calmly")
    take.locator("[name=rate]").select_option("8000")
    spoken(page)
    row = page.locator("#list tr").first.inner_text()
    assert "english, 8000 Hz, “calmly”" in row
    command = page.inner_text("#command")
    assert '"instructions":"calmly","language":"english"' in command
    assert '"response_format":"wav","sample_rate":8000,' in command
    with page.expect_download() as download:
        take.get_by_role("button", name="WAV").click()
    with wave.open(io.BytesIO(download.value.path().read_bytes())) as file:
        assert file.getframerate() == 8000
        seconds = file.getnframes() / 8000
    assert told(take, "audio").inner_text() == f"{seconds:.1f} s"

    told(take, "ended").locator("a").click()
    page.click("text=Its settings in the playground")
    kept = [page.input_value(f"#{name}-A") for name in ("language", "format", "rate")]
    assert kept == ["english", "pcm", "8000"]


@pytest.mark.parametrize(
    ("format_", "suffix"),
    [("pcm_f32", "wav"), ("wav_mulaw", "wav"), ("mp3", "mp3"), ("opus", "opus"), ("flac", "flac")],
)
def test_a_take_is_heard_and_kept_in_its_format(page: Page, format_: str, suffix: str) -> None:
    page.goto(PLAYGROUND)
    page.select_option("#format-A", format_)
    take = spoken(page)
    assert 0.5 < float(told(take, "audio").inner_text().removesuffix(" s")) < 10
    with page.expect_download() as download:
        take.get_by_role("button", name=suffix.upper()).click()
    assert download.value.suggested_filename.endswith(f".{suffix}")
    assert download.value.path().read_bytes().startswith((b"RIFF", b"OggS", b"fLaC", MP3))
    assert f'"response_format":"{format_}"' in page.inner_text("#command")


def test_rates_that_a_format_cannot_have_are_not_offered(page: Page) -> None:
    page.goto(PLAYGROUND)
    page.select_option("#rate-A", "44100")
    page.select_option("#format-A", "opus")
    offered = page.locator("#rate-A option:not([hidden])").all_inner_texts()
    assert offered == ["24000 Hz", "8000 Hz", "16000 Hz", "48000 Hz"]
    assert page.input_value("#rate-A") == ""


@pytest.mark.parametrize("law", ["mulaw", "alaw"])
def test_telephones_codes_are_read_as_they_are_written(page: Page, law: str) -> None:
    page.goto(PLAYGROUND)
    module = page.evaluate(
        "performance.getEntriesByType('resource').map((each) => each.name)"
        ".find((name) => name.includes('/formats.'))"
    )
    read = (
        f"import('{module}').then((all) => Array.from({{ length: 256 }}, (_, n) => all.{law}(n)))"
    )
    samples = np.array(page.evaluate(read), np.float32)
    codes = list(Raw(law).push(samples))
    # One of its two noughts is never written.
    assert [n for n in range(256) if codes[n] != n] == ([127] if law == "mulaw" else [])


def test_a_refusal_is_told_in_words(page: Page) -> None:
    page.goto(PLAYGROUND)
    page.evaluate("fetch = async () => Response.json({error: {message: 'No.'}}, {status: 400})")
    take = side(page, "A")
    take.get_by_role("button", name="Speak A").click()
    expect(told(take, "status")).to_have_text("No.")
    expect(take.get_by_role("button", name="Stop")).to_be_disabled()
    assert page.locator("#none").count() == 1
