"""Words on a context's one clock, and what OpenAI's callers are told of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpu_engine.proto import engine_pb2 as pb
from tests.ttsapp.contexts import heard, texts, words
from tests.ttsapp.scripted_engine import Script, ScriptedEngine
from ttsapp.speech.context import Context
from ttsapp.speech.events import Audio, Done, Event, Failed, Flushed, Word, Words
from ttsapp.speech.feed import TextMode
from ttsapp.speech.order import Order
from ttsapp.speech.text.markup import Markup
from ttsapp.speech.text.prepare import TextOptions, prepare

TELLS = Script(tells_words=True)


def wanted(order: Order) -> Order:
    told = replace(order.model, word_languages=("english",))
    return replace(order, model=told, has_words=True)


async def test_it_works(order: Order, engine: ScriptedEngine) -> None:
    """Two engine streams of 400 ms each, the second behind the first."""
    engine.script = TELLS
    context = Context(wanted(order))
    context.append("Hello there. How are you?")
    context.finish()
    events = await heard(context)

    assert texts(engine) == ["Hello there. ", "How are you?"]
    assert words(events) == [
        Word("Hello", 0, 200),
        Word("there.", 200, 400),
        Word("How", 400, 533),
        Word("are", 533, 667),
        Word("you?", 667, 800),
    ]
    kinds = [type(event) for event in events]
    assert kinds[5:7] == [Words, Audio]


async def test_words_that_nobody_asked_for_are_not_looked_for(
    order: Order, engine: ScriptedEngine
) -> None:
    engine.script = TELLS
    context = Context(replace(wanted(order), has_words=False))
    context.say("Hello there.")
    assert words(await heard(context)) == []
    assert not engine.heard[0].start.word_times


async def test_words_are_not_looked_for_in_a_language_that_has_none(
    order: Order, engine: ScriptedEngine
) -> None:
    context = Context(replace(wanted(order), language="german"))
    context.say("Hallo.")
    await heard(context)
    assert not engine.heard[0].start.word_times


async def test_pauses_and_rates_move_words(order: Order, engine: ScriptedEngine) -> None:
    engine.script = TELLS
    text = '<speak>One <break time="300ms"/><prosody rate="50%">two three</prosody></speak>'
    context = Context(wanted(order))
    context.say_prepared(text, prepare(text, TextOptions(language="en", markup=Markup.SSML)))
    assert words(await heard(context)) == [
        Word("One", 0, 400),
        Word("two", 700, 1100),
        Word("three", 1100, 1500),
    ]


async def test_text_that_is_spoken_as_it_comes_has_words_too(
    order: Order, engine: ScriptedEngine
) -> None:
    engine.script = TELLS
    context = Context(wanted(order), mode=TextMode.TOKEN)
    for token in ("Hel", "lo there", "."):
        context.append(token)
    context.finish()
    assert [word.text for word in words(await heard(context))] == ["Hello", "there."]


@pytest.mark.parametrize("mode", TextMode)
async def test_signs_behind_all_that_is_spoken_are_told_where_it_ends(
    order: Order, engine: ScriptedEngine, mode: TextMode
) -> None:
    engine.script = TELLS
    context = Context(wanted(order), mode=mode)
    context.append("Hello there.")
    context.flush("1")
    context.append(" 👋 ...")
    context.flush("2")
    context.append(" \u200b")
    context.finish()
    events = await heard(context)
    assert texts(engine) == ["Hello there."]
    assert words(events)[1:] == [
        Word("there.", 200, 400),
        Word("👋", 400, 400),
        Word("...", 400, 400),
    ]
    order_told = [type(event) for event in events if not isinstance(event, Audio)]
    assert order_told == [Words, Flushed, Words, Flushed, Done]


async def test_signs_before_anything_is_spoken_are_told_of_nobody(
    order: Order, engine: ScriptedEngine
) -> None:
    engine.script = TELLS
    context = Context(wanted(order))
    context.append("👋")
    context.finish()
    (failed,) = await heard(context)
    assert isinstance(failed, Failed)
    assert failed.error.code == "empty_input"


async def test_no_word_is_told_of_a_cancelled_context(order: Order, engine: ScriptedEngine) -> None:
    engine.script = Script(tells_words=True, reason=pb.FINISH_REASON_STOP, ignore_cancel=True)
    context = Context(wanted(order))
    context.say("Hello there.")
    told: list[Event] = []
    async for event in context.events():
        told.append(event)
        context.cancel()
    assert words(told) == []
