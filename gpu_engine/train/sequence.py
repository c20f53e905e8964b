"""Training sequences, position by position what the prompt builder and the decoding loop make.

Every position is T(text id) plus something on the codec side: nothing (the role), a control id, the
speaker, or a frame's 16 codes. The text side is the same in both layouts (prefix, text, tts_eos,
then tts_pad for ever); only where the frames start beside it differs:

    text first:  role, codec prefix, text and tts_eos on codec_pad, tts_pad on codec_bos, frames
    streamed:    role, codec prefix, first text token on codec_bos, frames beside the other tokens

An instruction stands before the role, as text alone. So does a description, and the codec prefix
has no speaker then.

The logits of position i answer for position i + 1: the label of the position before a frame is that
frame's code 0, and the label of the last frame's position is codec_eos.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import torch
from torch import Tensor

from gpu_engine.config import TtsConfig
from gpu_engine.train.packing import AUTO, DESIGNED, FULL, PREFIX, VECTOR
from gpu_engine.train.store import (
    CODE_AT,
    DESCRIPTION,
    DESCRIPTION_AT,
    FRAMES,
    INSTRUCTION,
    INSTRUCTION_AT,
    SPEAKER,
    TARGET_AT,
    TEXT_AT,
    TOKENS,
    CodeStore,
)

IGNORED = -100
SPEAKER_SLOT = -2
NOTHING = -1


@dataclass(frozen=True, slots=True)
class Rows:
    """All [B, L] unless said otherwise.

    `codec`: control id or code 0, NOTHING, or SPEAKER_SLOT; `speaker`: as in the store's table,
    plus the number of presets where a preset is given as a vector; `frame`: number of the frame at
    this position, negative before the first; `codes` [B, L, groups]: that frame's codes (any codes
    where there is none); `following` [B, L, groups]: the next frame's; `phones` [B, L, 2]: that
    frame's phones, or IGNORED; `label`: code 0 of the next frame, codec_eos, or IGNORED; `target`
    [B, L, 2]: first and last row position that attention may rest on here, or -1; `start`: row
    position where this position's sequence starts.
    """

    text: Tensor
    codec: Tensor
    speaker: Tensor
    frame: Tensor
    codes: Tensor
    following: Tensor
    phones: Tensor
    label: Tensor
    target: Tensor
    place: Tensor
    start: Tensor

    def tensors(self) -> tuple[Tensor, ...]:
        return tuple(getattr(self, field.name) for field in fields(self))


class SequenceBuilder:
    """Lays out packed rows from the store; tensors only, so that it can be captured."""

    def __init__(
        self, config: TtsConfig, role: list[int], store: CodeStore, language: str = "english"
    ) -> None:
        self.store, self.config = store, config
        self._text, self._codec = _prefixes(config, role, language, store.codes.device)

    def __call__(self, sample: Tensor, place: Tensor, style: Tensor) -> Rows:
        """sample, place, style [B, L] as an `Epoch` has them."""
        store, ids, controls = self.store, self.config.text_ids, self.config.talker
        empty, place, style = sample < 0, place.long(), style.long()
        row = store.table[sample.clamp(min=0).long()]
        full, auto, designed = ((style & bit) > 0 for bit in (FULL, AUTO, DESIGNED))
        told, told_at = self._told(row, designed, place)
        lead = told + PREFIX - auto.long() - designed.long()
        token = place - lead
        tokens, frames = row[..., TOKENS], row[..., FRAMES]
        first = torch.where(full, tokens + 2, 1)
        frame = token - first
        codes_at = row[..., CODE_AT]
        last = frames - 1
        codes = store.codes[codes_at + frame.clamp(min=0).minimum(last)].long()
        next_at = codes_at + (frame + 1).clamp(min=0).minimum(last)
        following = store.codes[next_at].long()
        undecided = (frame < -1) | (frame >= last) | empty
        phones = store.phones[next_at].long().masked_fill(undecided[..., None], IGNORED)
        written = store.tokens[row[..., TEXT_AT] + token.clamp(min=0).minimum(tokens - 1)].long()
        text = torch.where(token < tokens, written, ids.tts_pad)
        text = torch.where(token == tokens, ids.tts_eos, text)
        in_prefix, in_told = token < 0, place < told
        prefix = (place - told).clamp(0, PREFIX - 1)
        kind = auto.long() + 2 * designed.long()
        text = torch.where(in_prefix, self._text[kind, prefix], text)
        text = torch.where(in_told, store.tokens[told_at].long(), text)
        codec = torch.where(frame == -1, controls.codec_bos_id, controls.codec_pad_id)
        codec = torch.where(frame >= 0, codes[..., 0], codec)
        codec = torch.where(in_prefix, self._codec[kind, prefix], codec)
        codec = codec.masked_fill(in_told, NOTHING)
        label = torch.where(frame < last, following[..., 0], controls.codec_eos_token_id)
        label = label.masked_fill((frame < -1) | empty, IGNORED)
        at = torch.arange(sample.shape[1], device=sample.device).expand_as(sample)
        start = at - torch.where(empty, 0, place)
        vector = ((style & VECTOR) > 0).long() * len(store.presets)
        return Rows(
            text=text.masked_fill(empty, ids.tts_pad),
            codec=codec.masked_fill(empty, NOTHING),
            speaker=row[..., SPEAKER] + vector,
            frame=frame.masked_fill(empty, -PREFIX),
            codes=codes,
            following=following,
            phones=phones,
            label=label,
            target=self._targets(row, frame, start + lead, at, empty),
            place=torch.where(empty, 0, place),
            start=start,
        )

    def _told(self, row: Tensor, designed: Tensor, place: Tensor) -> tuple[Tensor, Tensor]:
        """How many tokens are told before the role, and where this place's lies."""
        count = torch.where(designed, row[..., DESCRIPTION], row[..., INSTRUCTION])
        first = torch.where(designed, row[..., DESCRIPTION_AT], row[..., INSTRUCTION_AT])
        return count, (first + place.minimum(count)).clamp(max=len(self.store.tokens) - 1)

    def _targets(
        self, row: Tensor, frame: Tensor, text_at: Tensor, at: Tensor, empty: Tensor
    ) -> Tensor:
        """The position before a frame decides on it: it should look at the text of that frame."""
        said = (frame + 1).clamp(min=0).minimum(row[..., FRAMES] - 1)
        tokens = self.store.targets[row[..., TARGET_AT] + said].long()
        target = text_at[..., None] + tokens
        none = (frame < -1) | (frame + 1 >= row[..., FRAMES]) | empty | (tokens[..., 0] < 0)
        # Streamed text may be spoken later than it is due, never earlier than it arrives.
        none = none | (target[..., 0] > at)
        return target.masked_fill(none[..., None], -1)


def _prefixes(
    config: TtsConfig, role: list[int], language: str, device: torch.device
) -> tuple[Tensor, Tensor]:
    """Text and codec ids before the text, both [4, PREFIX]: with language and speaker, without a
    language, without a speaker, without both."""
    ids, controls = config.text_ids, config.talker
    spoken = controls.codec_language_id[language]
    heads = (
        [controls.codec_think_id, controls.codec_think_bos_id, spoken],
        [controls.codec_nothink_id, controls.codec_think_bos_id],
    )
    texts, codecs = [], []
    for slot in ([SPEAKER_SLOT], []):
        for head in heads:
            codec = [*head, controls.codec_think_eos_id, *slot, controls.codec_pad_id]
            text = [*role, *[ids.tts_pad] * (len(codec) - 1), ids.tts_bos]
            spare = PREFIX - len(text)
            texts.append([*text, *[ids.tts_pad] * spare])
            codecs.append([*[NOTHING] * len(role), *codec, *[NOTHING] * spare])
    return torch.tensor(texts, device=device), torch.tensor(codecs, device=device)
