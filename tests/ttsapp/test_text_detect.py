"""Which language a short text is in."""

from __future__ import annotations

import asyncio
import threading

import pytest

from ttsapp.edge import Lifespan, Message
from ttsapp.speech.text import detect as module
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


def test_two_who_ask_at_once_load_it_once() -> None:
    module._load.cache_clear()
    threads = [module.load_beside() for _ in range(2)]
    for thread in threads:
        thread.join(60)
    assert (module._load.cache_info().misses, module._load.cache_info().hits) == (1, 1)


async def test_a_process_loads_it_at_its_start_and_is_ready_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked, may_end, told = threading.Event(), threading.Event(), asyncio.Queue[Message]()

    def load() -> None:
        asked.set()
        may_end.wait(10)

    monkeypatch.setattr(module, "_load", load)
    messages: asyncio.Queue[Message] = asyncio.Queue()
    messages.put_nowait({"type": "lifespan.startup"})
    task = asyncio.create_task(Lifespan()({}, messages.get, told.put))

    assert await told.get() == {"type": "lifespan.startup.complete"}
    assert await asyncio.to_thread(asked.wait, 10)
    may_end.set()
    task.cancel()
