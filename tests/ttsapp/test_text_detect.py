"""Which language a short text is in."""

from __future__ import annotations

import pytest

from ttsapp.speech.text.detect import detect

SHORT = {
    "en": ["Hello there.", "How are you?", "The meeting is at noon.", "See you soon!"],
    "de": ["Hallo zusammen.", "Wie geht es dir?", "Bitte ruf mich morgen zurück."],
    "fr": ["Bonjour à tous.", "La réunion est à midi.", "Ça coûte cinq euros."],
    "es": ["¿Cómo estás?", "La reunión es al mediodía.", "Llámame mañana, por favor."],
    "it": ["La riunione è a mezzogiorno.", "Buongiorno"],
    "pt": ["Olá a todos.", "Como você está?"],
    "ru": ["Привет всем.", "Спасибо"],
    "zh": ["你好。", "会议在中午。"],
    "ja": ["こんにちは。", "会議は正午です。"],
    "ko": ["안녕하세요.", "감사합니다"],
}


@pytest.mark.parametrize(
    ("language", "text"), [(code, text) for code, texts in SHORT.items() for text in texts]
)
def test_short_texts(language: str, text: str) -> None:
    assert detect(text, "en" if language != "en" else "de") == language


@pytest.mark.parametrize("text", ["", "5", "OK", "Ja", "😀", "123 456", "A"])
def test_the_default_where_the_text_does_not_tell(text: str) -> None:
    assert detect(text, "pt") == "pt"
