"""What of a prepared text is charged when its listener leaves."""

from __future__ import annotations

import pytest

from ttsapp import ids
from ttsapp.keys.authentication import Caller
from ttsapp.speech.order import Order
from ttsapp.speech.prepared import speeches
from ttsapp.speech.segment import Segment
from ttsapp.speech.text.markup import Markup
from ttsapp.speech.text.prepare import TextOptions, prepare
from ttsapp.voices.catalogue import Preset, SpeechModel

VOICE = Preset("Anna", "english", "")
ORDER = Order(
    id=ids.uuid7(),
    caller=Caller(1, None, "test"),
    transport="http",
    model=SpeechModel("m", "custom_voice", (VOICE,), ("english",), "1"),
    voice=VOICE,
    response_format="pcm",
    language="english",
    instructions="",
    seed=1,
)
MS = 48


@pytest.fixture
def segment() -> Segment:
    """100 ms of silence, then 160 ms of the engine's audio at half its speed, in two chunks."""
    text = '<speak><break time="100ms"/><prosody rate="50%">Hello there.</prosody></speak>'
    prepared = prepare(text, TextOptions(language="en", markup=Markup.SSML))
    [segment] = speeches(ORDER, prepared)
    segment.made_bytes = 160 * MS
    segment._sent += [(100 * MS, 0), (260 * MS, 80 * MS), (420 * MS, 160 * MS)]  # type: ignore[attr-defined]
    return segment


@pytest.mark.parametrize(
    ("sent_ms", "made_ms"),
    [(0, 0), (50, 0), (100, 0), (180, 40), (260, 80), (420, 160), (9999, 160)],
)
def test_pauses_and_rates_are_no_audio_of_the_engine(
    segment: Segment, sent_ms: int, made_ms: int
) -> None:
    segment.delivered_bytes = sent_ms * MS
    assert segment.part().delivered_ms == made_ms


def test_tags_are_no_characters(segment: Segment) -> None:
    assert segment.part().characters == len("Hello there.")
