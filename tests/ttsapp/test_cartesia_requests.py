"""What a request of Cartesia's may ask for."""

from __future__ import annotations

from typing import Any

import httpx
import numpy as np
import pytest

from tests.ttsapp.cartesia_calls import RAW, refused, say
from tests.ttsapp.conftest import Party, eventually
from tests.ttsapp.scripted_engine import ScriptedEngine, spoken
from ttsapp.speech.models import RequestLog


@pytest.mark.parametrize(
    "asked",
    [
        {"generation_config": {"speed": 1.25}},
        {"speed": "fast"},
        {"speed": "slow", "generation_config": {"speed": 1.25, "volume": 2, "emotion": "happy"}},
    ],
)
def test_speed(http: httpx.Client, alice: Party, asked: dict[str, Any]) -> None:
    """400 ms become 320."""
    assert len(say(http, alice, **asked).content) == 320 * 48


@pytest.mark.parametrize(
    ("asked", "language"),
    [
        ({"language": "de"}, "german"),
        ({"language": None}, "auto"),
        ({"language": ...}, "auto"),
        ({"language": None, "locale": "en-GB"}, "english"),
    ],
)
def test_language(
    http: httpx.Client, alice: Party, engine: ScriptedEngine, asked: dict, language: str
) -> None:
    assert say(http, alice, **asked).status_code == 200
    assert engine.heard[0].start.language == language


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ({}, "It costs five dollars."),
        ({"normalization": "auto"}, "It costs five dollars."),
        ({"normalization": "en-US", "language": None}, "It costs five dollars."),
        ({"normalization": "off"}, "It costs $5."),
    ],
)
def test_normalization(
    http: httpx.Client, alice: Party, engine: ScriptedEngine, asked: dict, text: str
) -> None:
    assert say(http, alice, transcript="It costs $5.", **asked).status_code == 200
    assert engine.heard[0].start.text == text


def test_a_break_in_the_transcript(http: httpx.Client, alice: Party) -> None:
    """A second of silence more, which is no text."""
    answer = say(http, alice, transcript='Wait. <break time="1s"/> Go.')
    assert len(answer.content) == len(spoken(5)) * 2 + 48_000


@pytest.mark.parametrize(
    ("asked", "status", "code", "message"),
    [
        ({"model_id": ...}, 400, "missing_field", "The field model_id is required"),
        ({"model_id": "whisper-1"}, 404, "model_not_found", "'whisper-1' does not exist"),
        ({"transcript": 5}, 400, "invalid_type", "transcript is a number"),
        ({"transcript": " … "}, 400, "empty_input", "nothing to say"),
        ({"transcript": "x" * 5000}, 400, "string_above_max_length", "5000 characters"),
        ({"voice": "nobody"}, 400, "unknown_voice", "Unknown voice 'nobody'"),
        ({"voice": 7}, 400, "invalid_type", "voice must be text"),
        ({"voice": {"mode": "id"}}, 400, "invalid_type", "voice must be text"),
        ({"language": "xx"}, 400, "invalid_value", "Unknown language 'xx'"),
        ({"locale": "de"}, 400, "invalid_value", "language or locale, not both"),
        ({"tempo": 2}, 400, "unknown_field", "Unknown field 'tempo'"),
        ({"add_timestamps": True}, 400, "unknown_field", "'add_timestamps'"),
        ({"output_format": "wav"}, 400, "invalid_type", "output_format is not a JSON object"),
        ({"output_format": {"container": "ogg", "sample_rate": 8000}}, 400, "invalid_value", "ogg"),
        ({"output_format": {**RAW, "encoding": "s24"}}, 400, "invalid_value", "encoding 's24'"),
        ({"output_format": {**RAW, "sample_rate": 7}}, 400, "invalid_value", "sample_rate 7"),
        (
            {"output_format": {"container": "raw"}},
            400,
            "missing_field",
            "output_format.sample_rate",
        ),
        ({"output_format": {**RAW, "channels": 2}}, 400, "unknown_field", "output_format.channels"),
        ({"generation_config": {"speed": 9}}, 400, "invalid_value", "generation_config.speed"),
        ({"generation_config": {"volume": 9}}, 400, "invalid_value", "generation_config.volume"),
        ({"generation_config": {"pitch": 1}}, 400, "unknown_field", "generation_config.pitch"),
        ({"speed": "warp"}, 400, "invalid_value", "speed 'warp'"),
        ({"normalization": "xx"}, 400, "invalid_value", "Unknown language 'xx'"),
        ({"pronunciation_dict_id": "p1"}, 400, "unsupported_parameter", "pronunciation_dict_id"),
        ({"save": True}, 400, "unsupported_parameter", "never kept"),
    ],
)
def test_bad_requests(
    http: httpx.Client,
    alice: Party,
    engine: ScriptedEngine,
    asked: dict[str, Any],
    status: int,
    code: str,
    message: str,
) -> None:
    assert message in refused(say(http, alice, **asked), status, code)
    assert engine.heard == []
    eventually(lambda: RequestLog.objects.filter(error_code=code, tenant=alice.tenant).exists())


def test_volume_is_heard(http: httpx.Client, alice: Party) -> None:
    answer = say(http, alice, generation_config={"volume": 0.5})
    heard, usual = (np.frombuffer(pcm, "<i2") for pcm in (answer.content, spoken(5)))
    assert np.abs(heard - usual / 2).max() <= 0.5
