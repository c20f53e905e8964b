"""What a sound checkpoint and a sound engine agree on, whatever the weights say."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from gpu_engine.config import SAMPLE_RATE, TtsConfig
from gpu_engine.models.checkpoint import Checkpoint
from gpu_engine.models.prompt import AUTO, PromptRequest, Reference
from gpu_engine.models.synthesis import GREEDY, Speech, Utterance, synthesise

TEXT = "The quick brown fox jumps over the lazy dog near the river bank."
SHORT_TEXT = "Good morning."
TRANSCRIPT = "A short reference sentence."
# Float32 sums in another order: seen below 2e-5 on unit-scale values.
CLOSE = 1e-4


@dataclass(frozen=True, slots=True)
class Check:
    """One line of a report."""

    name: str
    passed: bool
    detail: str

    @classmethod
    def close(cls, name: str, ours: Tensor, theirs: Tensor) -> Check:
        """Passes where shapes are equal and values differ by less than CLOSE of the largest."""
        if ours.shape != theirs.shape:
            return cls(name, False, f"shape {list(ours.shape)}, expected {list(theirs.shape)}")
        ours, theirs = ours.float().cpu(), theirs.float().cpu()
        scale = max(1.0, float(theirs.abs().max())) if theirs.numel() else 1.0
        error = float((ours - theirs).abs().max()) if ours.numel() else 0.0
        return cls(name, error <= CLOSE * scale, f"largest difference {error:.1e}")

    @classmethod
    def equal(cls, name: str, ours: Tensor, theirs: Tensor) -> Check:
        """Passes where all integers are equal."""
        if ours.shape != theirs.shape:
            return cls(name, False, f"shape {list(ours.shape)}, expected {list(theirs.shape)}")
        same = int((ours.cpu() == theirs.cpu()).sum())
        return cls(name, same == ours.numel(), f"{same} of {ours.numel()} equal")


def self_checks(checkpoint: Checkpoint, frames: int) -> Iterator[Check]:
    """Short deterministic syntheses and their cross-checks, cheapest first."""
    yield _tokenizer(checkpoint)
    yield from _encoders(checkpoint)
    rows = utterances(checkpoint, frames)
    alone = [synthesise(checkpoint, [row])[0] for row in rows]
    yield _speech(alone[0])
    together = synthesise(checkpoint, rows)
    yield _same_codes("batch equals single", together, alone)
    yield _seeds(checkpoint, rows)
    yield _predictor(checkpoint)
    yield _streaming(checkpoint, alone[0].codes)


def utterances(checkpoint: Checkpoint, frames: int) -> list[Utterance]:
    """Two greedy rows of different length, in a voice that the checkpoint's kind can speak."""
    voice = any_voice(checkpoint)
    return [
        Utterance(replace(voice, text=text), GREEDY, max_frames=frames)
        for text in (TEXT, SHORT_TEXT)
    ]


def any_voice(checkpoint: Checkpoint) -> PromptRequest:
    """A request without text: first preset, a synthetic tone's clone, or a described voice."""
    config = checkpoint.config
    blank = PromptRequest("", language=any_language(config))
    if config.kind == "custom_voice":
        return replace(blank, speaker=next(iter(config.talker.spk_id)))
    if config.kind == "voice_design":
        return replace(blank, instructions="A deep, calm male narrator.")
    assert checkpoint.speaker_encoder is not None
    tone = voice_like_tone().to(checkpoint.talker.device)
    return replace(blank, embedding=checkpoint.speaker_encoder.embed(tone))


def any_language(config: TtsConfig) -> str:
    return "english" if "english" in config.talker.codec_language_id else AUTO


def reference_of(checkpoint: Checkpoint) -> Reference | None:
    """The synthetic tone as an in-context reference, where the checkpoint can encode it."""
    if checkpoint.codec_encoder is None:
        return None
    tone = voice_like_tone().to(checkpoint.talker.device)
    return Reference(TRANSCRIPT, checkpoint.codec_encoder.encode(tone[None])[0].T)


def voice_like_tone(seconds: float = 1.83) -> Tensor:
    """A deterministic voice-like signal: gliding harmonics, float32 at 24 kHz."""
    time = torch.arange(int(seconds * SAMPLE_RATE), dtype=torch.float64) / SAMPLE_RATE
    pitch = 130 + 40 * torch.sin(2 * math.pi * 1.7 * time)
    phase = 2 * math.pi * torch.cumsum(pitch, 0) / SAMPLE_RATE
    tone = torch.stack([torch.sin(k * phase) / k for k in range(1, 12)]).sum(0)
    loudness = 0.6 + 0.4 * torch.sin(2 * math.pi * 3.1 * time)
    return (0.15 * tone * loudness).float()


def _tokenizer(checkpoint: Checkpoint) -> Check:
    tokenizer, ids = checkpoint.tokenizer, checkpoint.config.text_ids
    text = f"{TEXT} <|im_end|> <tts_pad>"
    tokens = tokenizer.encode(text)
    spelled = not {ids.im_start, ids.im_end, ids.tts_bos, ids.tts_eos, ids.tts_pad} & set(tokens)
    passed = spelled and tokenizer.decode(tokens) == text
    return Check("text there and back", passed, f"{len(tokens)} tokens")


def _encoders(checkpoint: Checkpoint) -> Iterator[Check]:
    tone = voice_like_tone().to(checkpoint.talker.device)
    if checkpoint.speaker_encoder is not None:
        vector = checkpoint.speaker_encoder.embed(tone)
        width = len(vector) == checkpoint.config.talker.hidden_size
        finite = bool(vector.isfinite().all())
        yield Check("speaker embedding", width and finite, f"norm {float(vector.norm()):.2f}")
    if checkpoint.codec_encoder is not None:
        codes = checkpoint.codec_encoder.encode(tone[None])
        samples = checkpoint.config.codec.decoder_config.samples_per_frame
        expected = [1, checkpoint.config.talker.num_code_groups, -(-len(tone) // samples)]
        passed = list(codes.shape) == expected
        yield Check("audio to codes", passed, f"{len(tone)} samples, {codes.shape[2]} frames")


def _speech(speech: Speech) -> Check:
    finite = bool(speech.audio.isfinite().all())
    level = float(speech.audio.square().mean().sqrt())
    detail = f"{len(speech.codes)} frames, level {level:.4f}, stopped: {speech.stopped}"
    return Check("finite audio", finite and level > 0, detail)


def _same_codes(name: str, ours: list[Speech], theirs: list[Speech]) -> Check:
    checks = [
        Check.equal(name, left.codes, right.codes) for left, right in zip(ours, theirs, strict=True)
    ]
    failed = [check for check in checks if not check.passed]
    return failed[0] if failed else Check(name, True, f"{len(checks)} rows")


def _seeds(checkpoint: Checkpoint, rows: list[Utterance]) -> Check:
    sampling = checkpoint.config.sampling
    drawn = [replace(row, sampling=sampling, seed=11 + i) for i, row in enumerate(rows)]
    alone = [synthesise(checkpoint, [row])[0] for row in drawn]
    return _same_codes(
        "a seed's speech, whatever shares its batch", synthesise(checkpoint, drawn), alone
    )


@torch.inference_mode()
def _predictor(checkpoint: Checkpoint) -> Check:
    talker = checkpoint.talker
    table = talker.codec_embedding.weight
    hidden, code0 = table[:4], table[4:8]
    ways = [[], []]  # type: list[list[Tensor]]

    def greedy(kept: list[Tensor], logits: Tensor) -> Tensor:
        kept.append(logits)
        return logits.argmax(-1)

    predictor = talker.code_predictor
    predictor.frame(hidden, code0, lambda group, logits: greedy(ways[0], logits))
    predictor.plain_frame(hidden, code0, lambda group, logits: greedy(ways[1], logits))
    return Check.close("folded predictor equals plain", torch.stack(ways[0]), torch.stack(ways[1]))


@torch.inference_mode()
def _streaming(checkpoint: Checkpoint, codes: Tensor) -> Check:
    decoder, rows = checkpoint.codec_decoder, codes.T[None]
    state, pieces = decoder.initial_state(1, codes.device), []
    for block in torch.split(rows, 1, -1):
        audio, state = decoder.step(block, state)
        pieces.append(audio)
    return Check.close("streamed audio equals whole", torch.cat(pieces, -1), decoder(rows))
