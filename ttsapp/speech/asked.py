"""What decides a request's audio beside its text: kept in a few bytes beside its log row, so that
the same can be made again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import msgspec

from ttsapp.speech.feed import TextMode
from ttsapp.speech.order import Order
from ttsapp.speech.text.markup import Markup
from ttsapp.speech.text.prepare import TextOptions
from ttsapp.voices.own import OwnVoice

# Who asks and how, and what the row has in columns of its own. Whatever else an order may come to
# hold is kept.
_BESIDE = frozenset(
    {"id", "caller", "transport", "model", "voice", "response_format", "seed"}
    | {"text_field", "voice_field", "instructions"}
)
_KEPT = tuple((each.name, each.default) for each in fields(Order) if each.name not in _BESIDE)

Asked = Mapping[str, Any]


def of_order(order: Order, options: TextOptions | None, mode: TextMode | None) -> Asked:
    """What is not as usual. `options`: what was done to its text; `mode`: how that was cut, where
    it came in parts. `fingerprint` and `artifact`: of the weights and of the voice's version."""
    said = {name: (getattr(order, name), usual) for name, usual in _KEPT}
    found = {name: value for name, (value, usual) in said.items() if value not in (usual, "")}
    if order.instructions:
        # They are text, and kept with it or not at all.
        found["has_instructions"] = True
    found["fingerprint"] = order.model.fingerprint
    if isinstance(order.voice, OwnVoice):
        found["artifact"] = order.voice.artifact
    if options is not None:
        found |= _of_text(options)
    if mode is not None:
        found["mode"] = mode.value
    return found


def _of_text(options: TextOptions) -> dict[str, Any]:
    found: dict[str, Any] = {"lexicon": options.lexicon.version}
    if options.is_normalised:
        found["is_normalised"] = True
    if options.markup is not Markup.NONE:
        found["markup"] = options.markup.value
    return found


def pack(asked: Asked) -> bytes:
    return msgspec.msgpack.encode(asked, enc_hook=str)


def unpack(packed: bytes | memoryview | None) -> Asked | None:
    """None for what an earlier version logged, and for what never reached the engine."""
    return _decode(bytes(packed)) if packed else None


_decode = msgspec.msgpack.Decoder(dict[str, Any]).decode
