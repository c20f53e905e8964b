"""Golden outputs of the reference package, for the cases beside it; docs/parity.md has the recipe.

Run in an environment with qwen-asr, whose package root asks for more than is needed here."""

from __future__ import annotations

import json
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch

from tests.align.cases import CASES, Case
from tests.align.tiny_aligner import build, sound

GOLDEN = Path(__file__).parent / "golden"
MARKERS = {
    151669: "<|audio_start|>",
    151670: "<|audio_end|>",
    151676: "<|audio_pad|>",
    151705: "<timestamp>",
}
PROCESSOR = {
    "processor_class": "Qwen3ASRProcessor",
    "feature_extractor_type": "WhisperFeatureExtractor",
    "feature_size": 128,
    "sampling_rate": 16000,
    "hop_length": 160,
    "n_fft": 400,
    "chunk_length": 30,
    "padding_value": 0.0,
    "return_attention_mask": True,
}


def main() -> None:
    torch.set_num_threads(1)
    folder = build(Path(tempfile.mkdtemp()) / "aligner")
    _add_processor(folder)
    aligner = _reference(folder)
    for name, case in CASES.items():
        np.savez_compressed(GOLDEN / f"{name}.npz", **_run(aligner, case))


def _add_processor(folder: Path) -> None:
    """What the package reads besides, and the engine does not: ids must follow one another."""
    (folder / "preprocessor_config.json").write_text(json.dumps(PROCESSOR), "utf-8")
    added = {
        str(number): {"content": MARKERS.get(number, f"<|unused_{number}|>"), "special": True}
        for number in range(151643, 151706)
    }
    names = {"audio_bos": 151669, "audio_eos": 151670, "audio": 151676}
    config = {
        "added_tokens_decoder": added,
        "tokenizer_class": "Qwen2Tokenizer",
        "pad_token": "<|unused_151643|>",
        "extra_special_tokens": {
            f"{name}_token": MARKERS[number] for name, number in names.items()
        },
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config), "utf-8")


def _reference(folder: Path) -> Any:
    root = find_spec("qwen_asr")
    assert root is not None
    assert root.submodule_search_locations is not None
    for part in ("", ".inference"):
        package = ModuleType(f"qwen_asr{part}")
        package.__path__ = [str(Path(root.submodule_search_locations[0], part.lstrip(".")))]
        sys.modules[package.__name__] = package
    from qwen_asr.inference import qwen3_forced_aligner as reference

    return reference.Qwen3ForcedAligner.from_pretrained(str(folder), dtype=torch.float32)


def _run(aligner: Any, case: Case) -> dict[str, Any]:
    """`windowed`: whether attention keeps to the windows that it was made for, which the package
    leaves to FlashAttention and ignores without."""
    audio = sound(case.seconds, case.seed).astype(np.float32) / 32768
    out: dict[str, Any] = {}
    for way in ("whole", "windowed"):
        seen = _listen(aligner, windowed=way == "windowed")
        result = aligner.align((audio, 24_000), case.text, case.language)[0]
        _deafen(seen)
        times = [(item.start_time, item.end_time) for item in result]
        out |= {f"{way}_times": np.array(times), f"{way}_heard": seen["heard"][::3]}
        marked = seen["ids"] == aligner.timestamp_token_id
        out |= {f"{way}_logits": seen["logits"][marked][:, ::25].astype(np.float32)}
        out |= {f"{way}_best": seen["logits"][marked].argmax(-1)}
    words = [item.text for item in result]
    return out | {"words": np.array(words), "ids": seen["ids"], "mel": seen["mel"][::8, ::7]}


def _listen(aligner: Any, *, windowed: bool) -> dict[str, Any]:
    """Notes what goes through the model."""
    thinker = aligner.model.thinker
    tower, seen = thinker.audio_tower, dict[str, Any]()

    def inputs(_: Any, __: Any, kwargs: dict[str, Any]) -> None:
        seen["ids"] = kwargs["input_ids"][0].numpy()
        seen["mel"] = kwargs["input_features"][0].numpy()

    def confine(_: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        hidden, windows = args
        mask = tower._prepare_attention_mask(hidden, windows)
        return args, kwargs | {"attention_mask": mask}

    hooks = [
        thinker.register_forward_pre_hook(inputs, with_kwargs=True),
        thinker.register_forward_hook(
            lambda _, __, out: seen.update(logits=out.logits[0].float().numpy())
        ),
        tower.register_forward_hook(
            lambda _, __, out: seen.update(heard=out.last_hidden_state.numpy())
        ),
    ]
    if windowed:
        hooks += [
            layer.register_forward_pre_hook(confine, with_kwargs=True) for layer in tower.layers
        ]
    seen["hooks"] = hooks
    return seen


def _deafen(seen: dict[str, Any]) -> None:
    for hook in seen["hooks"]:
        hook.remove()


if __name__ == "__main__":
    main()
