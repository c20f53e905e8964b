"""Teaches the decoder of a finished codec more, for codes that stay what they are.

Encoder and codebooks rest, so a Talker that speaks these codes stays right, and the decoder can be
put into its checkpoint at once.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor

from gpu_engine.config import CodecConfig
from gpu_engine.models.codec import CodecDecoder, CodecEncoder
from gpu_engine.train.codec import CodecRecipe, CodecTrainer
from gpu_engine.train.codec_data import Recording
from gpu_engine.train.codec_model import CodecModel
from gpu_engine.train.codec_state import take_adversaries
from gpu_engine.train.export import halved, is_run, load_codec
from gpu_engine.train.runtime import Log, World
from gpu_engine.train.tiny import codec_json

WEIGHTS = Path("model.safetensors")


class DecoderTrainer(CodecTrainer):
    """`codec`: a run's folder, or a speech_tokenizer with its encoder; its decoder learns."""

    def __init__(
        self, codec: Path, config: CodecConfig, recipe: CodecRecipe, recording: Recording,
        world: World,
    ) -> None:  # fmt: skip
        self.codec, self.config = codec, config
        super().__init__(config, recipe, recording, world)
        if is_run(codec):
            take_adversaries(self, codec)

    def make_model(self, config: CodecConfig) -> CodecModel:
        """Only what comes after the codebooks learns."""
        model = CodecModel(config)
        for mine, kept in zip((model.encoder, model.decoder), load_codec(self.codec), strict=True):
            mine.load_state_dict(kept.state_dict())
        model.requires_grad_(False)
        model.decoder.requires_grad_(True).quantizer.requires_grad_(False)
        return model

    @torch.no_grad()
    def vectors(self, audio: Tensor) -> Tensor:
        """Audio [B, S] to the vectors [B, D, S / 1920] that its codes stand for."""
        encoder = self.model.encoder
        found: Tensor = self.model.decoder.quantizer.decode(
            encoder.quantize(encoder.latents(audio))
        )
        return found

    def _gradients(self, *, quantize: bool, judged: bool) -> None:
        self.grads.zero()
        audio, _ = self.recording.windows(self.recipe.rows, self.recipe.frames)
        made = self.model.decoder.render(self.vectors(audio))
        mel = self.mel(made, audio)
        loss = mel + self._unlike(made, audio)
        if judged:
            loss = loss + self._judge(made, audio)
        loss.backward()
        self._note(mel=mel)

    @torch.no_grad()
    def _update(self, *, quantize: bool, judged: bool) -> None:
        self._step(judged)

    def train(self, save: Callable[[], None], log: Log, deadline: float = 0.0) -> None:
        self.begin(deadline)
        end = self.recipe.seconds
        self._phase(self.recipe.judge_from * end, True, False, save, log)
        self._phase(end, True, True, save, log)

    def save(self, folder: Path, final: bool = True) -> None:
        """A speech_tokenizer folder with the averaged decoder."""
        if not self.world.leads:
            return
        folder.mkdir(parents=True, exist_ok=True)
        averaged = copy.deepcopy(self.model)
        averaged.load_state_dict(self.averaged_state())
        parts: dict[str, CodecEncoder | CodecDecoder] = {
            "encoder": averaged.encoder,
            "decoder": averaged.decoder,
        }
        tensors = {
            f"{part}.{name}": tensor
            for part, module in parts.items()
            for name, tensor in module.state_dict().items()
        }
        partial = folder / WEIGHTS.with_suffix(".part")
        save_file(halved(tensors), partial)
        partial.rename(folder / WEIGHTS)
        text = json.dumps(codec_json(self.config), indent=2) + "\n"
        (folder / "config.json").write_text(text, "utf-8")
