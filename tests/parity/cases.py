"""What was asked of the reference package for each stored golden, as requests to the engine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from gpu_engine.models.prompt import PromptRequest, Reference
from gpu_engine.models.synthesis import GREEDY, Utterance

GOLDEN = Path(__file__).parent / "golden"
ENGLISH = "The quick brown fox jumps over the lazy dog near the river bank."
CHINESE = "今天天气很好，我们去公园走一走吧。"  # noqa: RUF001
TRANSCRIPT = "A short reference sentence."

Arrays = dict[str, NDArray[np.generic]]


@dataclass(frozen=True, slots=True)
class Case:
    """`tokens`: the cap on code-0 tokens that the reference ran with."""

    checkpoint: str
    tokens: int
    rows: tuple[PromptRequest, ...]

    def utterances(self) -> list[Utterance]:
        """N tokens give N - 1 frames: the last code 0 never gets its other codes."""
        return [Utterance(row, GREEDY, max_frames=self.tokens - 1) for row in self.rows]


def golden(name: str) -> Arrays:
    with np.load(GOLDEN / f"{name}.npz") as arrays:
        return dict(arrays)


def tensor(array: NDArray[np.generic]) -> torch.Tensor:
    """Integers widened to int64, floats as they are."""
    if np.issubdtype(array.dtype, np.integer):
        return torch.from_numpy(array.astype(np.int64))
    return torch.from_numpy(array)


def _clone(text: str = "", layout: str | None = None) -> PromptRequest:
    """A clone of the voice in encoders.npz: in context where a transcript is given."""
    arrays = golden("encoders")
    return PromptRequest(
        ENGLISH,
        "English",
        embedding=tensor(arrays["speaker_embedding"]),
        reference=Reference(text, tensor(arrays["codes"])) if text else None,
        layout=layout,  # type: ignore[arg-type]
    )


def _preset(text: str, language: str, speaker: str, instructions: str = "") -> PromptRequest:
    return PromptRequest(text, language, speaker, instructions=instructions)


def _streaming(text: str, language: str, speaker: str, instructions: str = "") -> PromptRequest:
    return PromptRequest(text, language, speaker, instructions=instructions, layout="streaming")


CUSTOM, BASE, DESIGN = "tiny-1b7-custom_voice", "tiny-1b7-base", "tiny-1b7-voice_design"
SMALL = "tiny-0b6-custom_voice"
BATCH = (
    _streaming(ENGLISH, "English", "aiden"),
    _streaming(CHINESE, "Chinese", "uncle_fu", "悲伤地说"),
    _streaming("Hi.", "Korean", "sohee"),
)
CASES = {
    "cv_stream_en": Case(CUSTOM, 24, (_streaming(ENGLISH, "English", "Vivian"),)),
    "cv_full_en_instruct": Case(
        CUSTOM, 24, (_preset(ENGLISH, "English", "Ryan", "Speak slowly and warmly."),)
    ),
    "cv_dialect_auto": Case(CUSTOM, 12, (_streaming(CHINESE, "Auto", "dylan"),)),
    "cv_auto_nothink": Case(CUSTOM, 12, (_preset(CHINESE, "Auto", "serena"),)),
    "cv_batch3": Case(CUSTOM, 72, BATCH),
    "cv_long_eos": Case(CUSTOM, 96, (_preset(ENGLISH, "Japanese", "ono_anna"),)),
    "vd_full": Case(DESIGN, 16, (_preset(ENGLISH, "English", "", "A deep, calm male narrator."),)),
    "vd_no_instruct_auto": Case(DESIGN, 10, (_streaming(CHINESE, "auto", ""),)),
    "cv0b6_stream_en": Case(
        SMALL, 16, (_streaming(ENGLISH, "english", "vivian", "is ignored for this size"),)
    ),
    "clone_xvec_stream": Case(BASE, 12, (_clone(),)),
    "clone_xvec_full": Case(BASE, 12, (_clone(layout="full"),)),
    "clone_icl_stream_codec_longer": Case(BASE, 12, (_clone(TRANSCRIPT),)),
    "clone_icl_stream_text_longer": Case(BASE, 12, (_clone(f"{TRANSCRIPT} {ENGLISH}"),)),
    "clone_icl_full": Case(BASE, 12, (_clone(TRANSCRIPT, "full"),)),
}
SAMPLED = Case(CUSTOM, 16, (_preset(ENGLISH, "Chinese", "eric"),))
