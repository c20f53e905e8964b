"""The teacher's clips through the codec and back: what the codec alone takes from speech."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import torch

from gpu_engine.models.codec import CodecDecoder, CodecEncoder
from tests.speech.clips import audio_of, save
from tests.speech.listening import Recording


@torch.inference_mode()
def through(
    encoder: CodecEncoder, decoder: CodecDecoder, clips: Iterable[Recording], folder: Path
) -> list[Recording]:
    """The same names in another folder; what lies there is not made again."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for clip in clips:
        made.append(Recording(clip.sentence, folder / clip.file.name))
        if not made[-1].file.exists():
            audio = audio_of(clip)
            codes = encoder.encode(audio[None])
            save(made[-1].file, decoder.decode(codes)[0, : len(audio)])
    return made
