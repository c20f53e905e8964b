"""Lets a checkpoint speak held-out sentences, for a listener and for figures about their length."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from gpu_engine.config import SAMPLE_RATE, SamplingConfig, TtsConfig
from gpu_engine.models.checkpoint import Checkpoint, load_checkpoint
from gpu_engine.models.prompt import Layout, PromptRequest, takes_instructions
from gpu_engine.models.synthesis import GREEDY, Speech, Utterance, synthesise
from gpu_engine.train.corpus import read_sentences, write_wav
from gpu_engine.train.described import (
    Trial,
    designs,
    fit,
    instructions,
    judge_designs,
    judge_instructions,
    listen,
)

CHARACTERS_PER_SECOND = 15.3  # of the teacher; what is twice as slow or fast is wrong
FRAMES_PER_SECOND = 12.5
SHORTEST = 1.0  # seconds added to the expectation: single words are slower


@dataclass(frozen=True, slots=True)
class Listening:
    """`voices` take turns over the sentences; all of the checkpoint's presets if empty."""

    voices: tuple[str, ...] = ()
    layout: Layout = "full"
    language: str = "english"
    greedy: bool = False
    temperature: float | None = None
    subtalker_temperature: float | None = None
    top_k: int | None = None
    repetition_penalty: float | None = None
    seed: int = 1
    batch: int = 16


@dataclass(frozen=True, slots=True)
class Clip:
    text: str
    voice: str
    speech: Speech


def speak(checkpoint: Checkpoint, texts: list[str], how: Listening) -> Iterator[Clip]:
    """Every sentence once, in batches."""
    voices = how.voices or tuple(checkpoint.config.talker.spk_id)
    return _said(checkpoint, [(t, voices[n % len(voices)], "") for n, t in enumerate(texts)], how)


def _said(
    checkpoint: Checkpoint, asked: Sequence[tuple[str, str, str]], how: Listening
) -> Iterator[Clip]:
    """Clips of texts, voices and what is told, in batches."""
    sampling = _sampling(checkpoint.config.sampling, how)
    rows = []
    for number, (text, voice, told) in enumerate(asked):
        prompt = PromptRequest(text, how.language, voice, instructions=told, layout=how.layout)
        most = int((2.5 * len(text) / CHARACTERS_PER_SECOND + 2) * FRAMES_PER_SECOND)
        rows.append(Utterance(prompt, sampling, how.seed + number, most))
    for start in range(0, len(rows), how.batch):
        part = rows[start : start + how.batch]
        for row, speech in zip(part, synthesise(checkpoint, part), strict=True):
            yield Clip(row.prompt.text, row.prompt.speaker, speech)


def _sampling(default: SamplingConfig, how: Listening) -> SamplingConfig:
    if how.greedy:
        return GREEDY
    names = ("temperature", "subtalker_temperature", "top_k", "repetition_penalty")
    stated = {name: getattr(how, name) for name in names if getattr(how, name) is not None}
    return replace(default, **stated)


def evaluate(
    folder: Path, sentences: Path, out: Path, how: Listening, device: str, count: int | None
) -> dict[str, float]:
    """Writes 000.wav and on, transcript.tsv and report.json into `out`; returns the report."""
    out.mkdir(parents=True, exist_ok=True)
    checkpoint = load_checkpoint(folder, device)
    started = time.monotonic()
    clips: list[Clip] = []
    for clip in speak(checkpoint, read_sentences(sentences, count), how):
        write_wav(out / f"{len(clips):03}.wav", clip.speech.audio)
        clips.append(clip)
        print(f"{len(clips):4}  {seconds(clip):5.1f} s  {clip.voice}: {clip.text}", flush=True)
    lines = [f"{n:03}.wav\t{clip.text}\t{clip.voice}\n" for n, clip in enumerate(clips)]
    (out / "transcript.tsv").write_text("".join(lines), "utf-8")
    figures = report(clips, time.monotonic() - started)
    (out / "report.json").write_text(json.dumps(figures, indent=2) + "\n", "utf-8")
    return figures


def evaluate_told(
    folder: Path, sentences: Path, out: Path, how: Listening, device: str, count: int
) -> dict[str, Any]:
    """As `evaluate`, for a checkpoint that is told things: whether it does them. Raises ValueError
    for any other."""
    out.mkdir(parents=True, exist_ok=True)
    checkpoint = load_checkpoint(folder, device)
    trials = trials_for(checkpoint.config, read_sentences(sentences), count, how)
    asked = [(trial.text, trial.voice, trial.told) for trial in trials]
    heard = []
    for number, clip in enumerate(_said(checkpoint, asked, how)):
        write_wav(out / f"{number:03}.wav", clip.speech.audio)
        heard.append(listen(clip.speech.audio.cpu(), clip.text))
        print(f"{number:4}  {heard[-1].pitch:4.0f} Hz  {trials[number].told}", flush=True)
    judge = judge_designs if checkpoint.config.kind == "voice_design" else judge_instructions
    figures = judge(trials, heard)
    (out / "report.json").write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
    return {name: value for name, value in figures.items() if name != "clips"}


def trials_for(config: TtsConfig, texts: list[str], count: int, how: Listening) -> list[Trial]:
    if not takes_instructions(config):
        raise ValueError(f"this {config.kind} checkpoint ({config.size}) is told nothing")
    texts = fit(texts)
    if config.kind == "voice_design":
        return designs(texts, count, how.seed)
    return instructions(texts, how.voices or tuple(config.talker.spk_id), count, how.seed)


def seconds(clip: Clip) -> float:
    return clip.speech.audio.numel() / SAMPLE_RATE


def wrong_length(clip: Clip) -> bool:
    """Ended by the cap, or less than half or more than twice as long as its text takes."""
    expected = len(clip.text) / CHARACTERS_PER_SECOND
    spoken = seconds(clip)
    return not clip.speech.stopped or not expected / 2 < spoken < 2 * expected + SHORTEST


def report(clips: list[Clip], wall: float) -> dict[str, float]:
    spoken = sum(seconds(clip) for clip in clips)
    loud = torch.tensor([clip.speech.audio.square().mean().sqrt() for clip in clips])
    return {
        "clips": len(clips),
        "seconds": round(spoken, 2),
        "characters_per_second": round(sum(len(c.text) for c in clips) / max(spoken, 1e-9), 2),
        "wrong_length": round(sum(map(wrong_length, clips)) / max(1, len(clips)), 4),
        "not_stopped": round(sum(not c.speech.stopped for c in clips) / max(1, len(clips)), 4),
        "silent": round(float((loud < 1e-3).float().mean()), 4),
        "real_time_factor": round(wall / max(spoken, 1e-9), 3),
    }
