"""Names that callers send, and the models and voices they stand for."""

from __future__ import annotations

import pytest

from ttsapp.errors import ApiError
from ttsapp.voices.catalogue import STOCK_VOICES, Catalogue, Preset, SpeechModel, stock_voices

RELEASED = (
    Preset("aiden", "english", "Man, American"),
    Preset("ryan", "english", "Man, rhythmic"),
    Preset("serena", "chinese", "Young woman, gentle"),
    Preset("uncle_fu", "chinese", "Older man, low"),
    Preset("vivian", "chinese", "Young woman, bright"),
)


def model(*presets: Preset, name: str = "voices") -> SpeechModel:
    return SpeechModel(name, "custom_voice", presets, ("chinese", "english"), "f1")


def test_it_works() -> None:
    names = stock_voices(model(*RELEASED))
    assert set(names) == set(STOCK_VOICES)
    assert len(STOCK_VOICES) == 13
    assert {preset.name for name, preset in names.items() if name in ("alloy", "coral")} == {
        "serena",
        "vivian",
    }
    assert {names[name].name for name in ("ash", "ballad", "echo", "onyx", "verse")} == {
        "aiden",
        "ryan",
    }


def test_voices_without_a_description_are_shared_by_all() -> None:
    names = stock_voices(model(*(Preset(f"v{n}", "english", "") for n in range(3))))
    assert {preset.name for preset in names.values()} == {"v0", "v1", "v2"}


def test_a_model_without_voices_has_no_stock_names() -> None:
    assert stock_voices(model()) == {}
    with pytest.raises(ApiError, match="a preset needs one of kind custom_voice"):
        model().preset("alloy")


def test_a_voice_of_that_very_name_comes_before_the_stock_name() -> None:
    own = Preset("alloy", "english", "Man")
    assert model(*RELEASED, own).preset("Alloy") == own


@pytest.mark.parametrize(
    ("name", "expected"),
    [("English", "english"), ("en", "english"), ("zh-CN", "chinese"), ("AUTO", "auto")],
)
def test_languages_by_name_and_by_code(name: str, expected: str) -> None:
    assert model(*RELEASED).language(name) == expected


def test_retired_names_go_to_the_first_model_with_voices() -> None:
    served = Catalogue((model(name="base"), model(*RELEASED, name="custom")))
    assert served.model("tts-1-hd").id == "custom"
    assert served.model("base").id == "base"


def test_a_retired_name_where_no_model_has_voices_stands_for_the_first() -> None:
    """So that who names a voice is told what is missing."""
    found = Catalogue((model(name="base"), model(name="design"))).model("tts-1")
    with pytest.raises(ApiError) as refusal:
        found.preset("alloy")
    assert found.id == "base"
    assert (refusal.value.status, refusal.value.field) == (400, "voice")


def test_a_retired_name_where_no_model_is_served() -> None:
    with pytest.raises(ApiError) as refusal:
        Catalogue(()).model("tts-1")
    assert refusal.value.status == 404
