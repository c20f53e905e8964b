"""Trains the codec: reconstruction first, then quantized, then against adversaries."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn import functional as F

from gpu_engine.config import CodecConfig
from gpu_engine.train.alignment import PHONES, PHONES_PER_FRAME, UNLABELLED
from gpu_engine.train.codec_data import Recording
from gpu_engine.train.codec_model import CodecModel, in_context, scale_loss
from gpu_engine.train.codec_state import save_place, settle
from gpu_engine.train.discriminators import (
    Discriminators,
    adversarial_loss,
    discriminator_loss,
    feature_loss,
)
from gpu_engine.train.likeness import listener
from gpu_engine.train.losses import LogMel, MelLoss
from gpu_engine.train.runtime import (
    Captured,
    Clock,
    FlatGradients,
    Log,
    Schedule,
    World,
    agreed,
    average,
    save_shards,
    share_weights,
)

FIGURES = (
    "mel",
    "aux",
    "phone",
    "commit",
    "scale",
    "unlike",
    "apart",
    "adv",
    "feature",
    "judge",
    "norm",
    "phone_hit",
)


@dataclass(frozen=True, slots=True)
class CodecRecipe:
    """One run. Shares are of the whole schedule's seconds."""

    seconds: float = 540.0
    rows: int = 16
    frames: int = 64
    judged_frames: int = 20  # of each row, heard by the adversaries
    rate: float = 1e-3
    adversary_rate: float = 3e-4
    heads_until: float = 0.03  # of a run that goes on
    quantize_from: float = 0.06
    judge_from: float = 0.35
    judged_rate_factor: float = 0.5  # of the generator's rate once it is judged
    decoder_rate: float = 1.0  # of the generator's rate
    dropout: float = 0.5
    phone: float = 1.0  # weight of naming the phones from code 0
    scale: float = 0.05  # weight of keeping the latents' deviation at 1
    listener: Path | None = None  # a Base checkpoint, whose speaker encoder hears what is made
    likeness: float = 1.0  # weight of sounding like the speaker to it
    apart: float = 0.15  # of it, for the layers before the vector
    ema: float = 0.999
    clip: float = 1.0
    settle_steps: int = 60
    resettle_steps: int = 10  # before a save in the middle, which is settled again when resumed
    log_every: int = 100
    save_every: float = 120.0
    seed: int = 1
    adversary_width: int = 32


class CodecTrainer:
    """One run over a recording; `train` ends when its seconds are used up."""

    def __init__(
        self, config: CodecConfig, recipe: CodecRecipe, recording: Recording, world: World
    ) -> None:
        torch.manual_seed(recipe.seed)
        self.recipe, self.recording, self.world = recipe, recording, world
        device = world.device
        self.model = self.make_model(config).to(device)
        self.adversaries = Discriminators(recipe.adversary_width).to(device)
        self.mel = MelLoss().to(device)
        self.fine_mel = LogMel(1024, 80, 240).to(device)
        self.listener = listener(recipe.listener).to(device) if recipe.listener else None
        share_weights(self.model, world)
        share_weights(self.adversaries, world)
        torch.manual_seed(recipe.seed + 1000 * world.rank + 1)
        self.grads = FlatGradients(self.model.parameters(), world)
        self.adversary_grads = FlatGradients(self.adversaries.parameters(), world)
        self.optimizer = self._adam(*self._groups())
        self.adversary_optimizer = self._adam(self.adversary_grads.parameters)
        self.resumed = False
        self.averaged = [p.detach().clone() for p in self.grads.parameters]
        self.losses = {name: torch.zeros((), device=device) for name in FIGURES}
        self.before = 0.0  # seconds of training in an earlier process
        self.clock = Clock()
        self.step = self.warm_from = 0

    def make_model(self, config: CodecConfig) -> CodecModel:
        return CodecModel(config)

    def _groups(self) -> tuple[list[nn.Parameter], ...]:
        """What learns at rates of their own: encoder, decoder, heads."""
        model = self.model
        decoder, heads = (
            {id(p) for part in parts for p in part.parameters()}
            for parts in ((model.decoder,), (model.mel_head, model.phone_head))
        )
        grown = self.grads.parameters
        return (
            [p for p in grown if id(p) not in decoder | heads],
            [p for p in grown if id(p) in decoder],
            [p for p in grown if id(p) in heads],
        )

    def _adam(self, *groups: list[nn.Parameter]) -> torch.optim.AdamW:
        """Every group has a rate of its own, which a captured step reads."""
        cuda, device = self.world.device.type == "cuda", self.world.device
        rated = [{"params": group, "lr": torch.zeros((), device=device)} for group in groups]
        return torch.optim.AdamW(
            rated, betas=(0.8, 0.99), weight_decay=1e-2, fused=cuda or None, capturable=cuda
        )

    # One step: losses and gradients (captured), averages over ranks, update (captured).

    def _gradients(self, *, quantize: bool, judged: bool) -> None:
        recipe, model = self.recipe, self.model
        self.grads.zero()
        audio, phones = self.recording.windows(recipe.rows, recipe.frames)
        latents = model.encoder.latents(audio)
        vectors, semantic, commitment = model.quantizer(
            latents, quantize=quantize, dropout=recipe.dropout
        )
        made = model.decoder.render(vectors)
        mel = self.mel(made, audio)
        aux = self._mel_head_loss(vectors, audio)
        phone = self._phone_loss(semantic, phones)
        scale = scale_loss(latents)
        loss = mel + 0.5 * aux + recipe.phone * phone + 0.2 * commitment + recipe.scale * scale
        loss = loss + self._unlike(made, audio)
        if judged:
            loss = loss + self._judge(made, audio)
        loss.backward()
        self._note(mel=mel, aux=aux, phone=phone, commit=commitment, scale=scale)

    def _mel_head_loss(self, vectors: Tensor, audio: Tensor) -> Tensor:
        frames = vectors.shape[-1]
        target = self.fine_mel(audio)[..., : 8 * frames].unflatten(-1, (frames, 8))
        guess = self.model.mel_head(vectors.transpose(1, 2)).unflatten(-1, (80, 8))
        distance: Tensor = (guess - target.permute(0, 2, 1, 3)).abs().mean()
        return distance

    def _phone_loss(self, semantic: Tensor, phones: Tensor) -> Tensor:
        """Mean over the labels that are known: what an unclear label is pulled to says nothing."""
        seen = self.model.phone_head(in_context(semantic)).unflatten(-1, (PHONES_PER_FRAME, PHONES))
        known = (phones != UNLABELLED).sum().clamp(min=1)
        self._note(phone_hit=(seen.argmax(-1) == phones).sum() / known)
        total = F.cross_entropy(
            seen.flatten(0, 2), phones.flatten(), ignore_index=UNLABELLED, reduction="sum"
        )
        return total / known

    def _unlike(self, made: Tensor, audio: Tensor) -> Tensor | float:
        if self.listener is None:
            return 0.0
        unlike, apart = self.listener(made, audio)
        self._note(unlike=unlike, apart=apart)
        loss: Tensor = self.recipe.likeness * (unlike + self.recipe.apart * apart)
        return loss

    def _judge(self, made: Tensor, audio: Tensor) -> Tensor:
        """Both sides' gradients against the adversaries as they stand; the generator's loss."""
        samples = min(self.recipe.judged_frames * 1920, audio.shape[-1])
        start = (torch.rand((), device=audio.device) * (audio.shape[-1] - samples)).long()
        cut = start + torch.arange(samples, device=audio.device)
        made, audio = made.index_select(1, cut), audio.index_select(1, cut)
        self.adversary_grads.zero()
        real, fake = self.adversaries(audio), self.adversaries(made.detach())
        judge = discriminator_loss(real, fake)
        judge.backward()  # type: ignore[no-untyped-call]
        self.adversaries.requires_grad_(False)
        fake = self.adversaries(made)
        self.adversaries.requires_grad_(True)
        adversarial, feature = adversarial_loss(fake), feature_loss(real, fake)
        self._note(adv=adversarial, feature=feature, judge=judge)
        return 0.07 * adversarial + 0.15 * feature

    def _average(self, judged: bool) -> None:
        self.grads.average()
        if judged:
            self.adversary_grads.average()
        if self.world.size > 1:
            for tensor in self.model.quantizer.statistics():
                average(tensor, self.world)
            for tensor in self.model.quantizer.candidates():
                dist.broadcast(tensor, 0)

    @torch.no_grad()
    def _update(self, *, quantize: bool, judged: bool) -> None:
        self._step(judged)
        self.model.quantizer.norm.follow()
        if quantize:
            self.model.quantizer.semantic.follow()
            self.model.quantizer.acoustic.follow()

    def _step(self, judged: bool) -> None:
        """The weights of both sides and their average."""
        self._note(norm=self.grads.clip(self.recipe.clip))
        self.optimizer.step()
        if judged:
            self.adversary_grads.clip(self.recipe.clip)
            self.adversary_optimizer.step()
        current: list[Tensor] = list(self.grads.parameters)
        torch._foreach_lerp_(self.averaged, current, 1 - self.recipe.ema)

    def _note(self, **values: Tensor) -> None:
        for name, value in values.items():
            self.losses[name].copy_(value.detach())

    # The run.

    def train(self, save: Callable[[], None], log: Log, deadline: float = 0.0) -> None:
        """For the recipe's seconds, but not past `deadline` (Unix time, if any). `save` is called
        now and then, not in the end."""
        self.begin(deadline)
        recipe = self.recipe
        end = recipe.seconds
        if self.resumed:
            settle(self.model, self.recording, recipe)
        else:
            self._phase(recipe.quantize_from * end, False, False, save, log)
            self._start_codebooks()
        share_weights(self.model.quantizer, self.world)
        self._phase(recipe.judge_from * end, True, False, save, log)
        self._phase(end, True, True, save, log)

    @torch.no_grad()
    def _start_codebooks(self) -> None:
        rows = min(8 * self.recipe.rows, 128)
        audio, _ = self.recording.windows(rows, self.recipe.frames)
        self.model.quantizer.start(self.model.encoder.latents(audio))

    def begin(self, deadline: float) -> None:
        """Starts the clock once all is compiled: that took the minute without codes before."""
        Captured(lambda: self._gradients(quantize=False, judged=False), self.world)()
        if self.world.device.type == "cuda":
            torch.cuda.synchronize()
        if deadline:
            left = agreed(deadline - time.time() + self.before, self.world)
            self.recipe = replace(self.recipe, seconds=min(self.recipe.seconds, left))
        self.clock, self.warm_from = Clock(self.before), self.step

    def _phase(
        self, until: float, quantize: bool, judged: bool, save: Callable[[], None], log: Log
    ) -> None:
        gradients = Captured(lambda: self._gradients(quantize=quantize, judged=judged), self.world)
        update = Captured(lambda: self._update(quantize=quantize, judged=judged), self.world)
        factor = self.recipe.judged_rate_factor if judged else 1.0
        main = Schedule(self.recipe.rate * factor, self.recipe.seconds)
        other = Schedule(self.recipe.adversary_rate, self.recipe.seconds)
        saved = self.clock.elapsed()
        while self._on(until):
            elapsed = self.clock.elapsed()
            warmed = self.step - self.warm_from  # moments of gradients are not saved
            rate = main.rate(warmed, elapsed)
            self.set_rates(rate, elapsed)
            self.adversary_optimizer.param_groups[0]["lr"].fill_(other.rate(warmed, elapsed))
            gradients()
            self._average(judged)
            update()
            if self.step % self.recipe.log_every == 0:
                self._report(log)
            self.step += 1
            # Nothing can go on from what has no codebooks yet.
            if quantize and elapsed - saved > self.recipe.save_every:
                save()
                saved = elapsed

    def set_rates(self, rate: float, elapsed: float) -> None:
        """At the begin of a run that goes on only the heads learn: what new ones ask for would
        spoil an encoder that knows its work."""
        encoder, decoder, heads = self.optimizer.param_groups
        resting = self.resumed and elapsed < self.recipe.heads_until * self.recipe.seconds
        heads["lr"].fill_(rate)
        encoder["lr"].fill_(0.0 if resting else rate)
        decoder["lr"].fill_(0.0 if resting else rate * self.recipe.decoder_rate)

    def _on(self, until: float) -> bool:
        """Whether time is left: the first rank's clock counts, asked now and then where steps are
        short."""
        if self.world.size == 1:
            return self.clock.elapsed() < until
        if self.step % 16 and self.world.device.type == "cuda":
            return True
        left = torch.tensor(float(self.clock.elapsed() < until), device=self.world.device)
        dist.broadcast(left, 0)
        return bool(left.item())

    def _report(self, log: Log) -> None:
        if self.world.leads:
            values = {name: float(value) for name, value in self.losses.items()}
            rate = float(self.optimizer.param_groups[0]["lr"])
            log.add({"step": self.step, "seconds": self.clock.elapsed(), "rate": rate, **values})

    # Files.

    def averaged_state(self) -> dict[str, Tensor]:
        """The model's state with the running average of its parameters."""
        names = [name for name, p in self.model.named_parameters() if p.requires_grad]
        return {
            **self.model.state_dict(),
            **dict(zip(names, self.averaged, strict=True)),
        }

    def save(self, folder: Path, final: bool = True) -> None:
        """What a later run resumes from; the adversaries in half precision."""
        if not self.world.leads:
            return
        folder.mkdir(parents=True, exist_ok=True)
        averaged = copy.deepcopy(self.model)
        averaged.load_state_dict(self.averaged_state())
        recipe = self.recipe
        steps = recipe.settle_steps if final else min(recipe.settle_steps, recipe.resettle_steps)
        settle(averaged, self.recording, replace(recipe, settle_steps=steps))
        save_shards(folder, "codec", averaged.state_dict())
        halves = {name: t.half() for name, t in self.adversaries.state_dict().items()}
        save_shards(folder, "adversaries", halves)
        save_place(self, folder)
