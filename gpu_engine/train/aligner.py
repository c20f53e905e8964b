"""Teaches the aligner which letters are spoken when, and where words begin and end.

The letters by CTC. Where word times are known it is cut between words: a letter is then looked for
where it is, which an utterance as a whole only leads to after many hours of speech. The edges by
two logits of their own, because CTC is content with one frame anywhere in a letter.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random
from typing import cast

import torch
from safetensors.torch import save_file
from torch import Tensor
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from gpu_engine.models.aligner import BLANK, MODEL_TYPE, AlignerConfig, AlignerNet
from gpu_engine.train.aligner_data import (
    Example,
    Piece,
    batches,
    edge_targets,
    pad,
    pieces,
    stretched,
)
from gpu_engine.train.runtime import Clock, Log, Schedule

FLOOR = -11.5  # of the log-mel: silence
AVERAGING, WARM_UP = 0.995, 50
# Share of the expectation that is taken off: of 0.4, 0.7 and 1 the best, by far better than 0.
EXPECTATION, WEIGHED = 0.7, 200


@dataclass(frozen=True, slots=True)
class AlignerRecipe:
    """`speech`: seconds of speech in a step; `edges`: weight of the words' edges beside the
    letters."""

    steps: int = 2000
    speech: float = 60.0
    rate: float = 3e-3
    edges: float = 1.0
    noise: float = 0.5
    log_every: int = 20
    seed: int = 1


def train_aligner(
    examples: Sequence[Example],
    config: AlignerConfig,
    recipe: AlignerRecipe,
    out: Path,
    start: AlignerNet | None = None,
) -> AlignerNet:
    """Writes the log into `out` and the averaged network, which it returns, into `out/aligner`.
    `start`: one to go on from."""
    out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(recipe.seed)
    rng, log, clock = Random(recipe.seed), Log(out), Clock()
    schedule = Schedule(recipe.rate, recipe.steps, WARM_UP)
    net = AlignerNet(config) if start is None else start.train()
    averaging = get_ema_multi_avg_fn(AVERAGING)  # type: ignore[no-untyped-call]
    averaged = AveragedModel(net, multi_avg_fn=averaging)
    optimiser = torch.optim.AdamW(net.parameters(), betas=(0.9, 0.98), weight_decay=0.01)
    for step, rows in enumerate(islice(_endlessly(examples, recipe, rng), recipe.steps)):
        for group in optimiser.param_groups:
            group["lr"] = schedule.rate(step, step)
        letters, edges = _losses(net, rows, recipe, rng)
        optimiser.zero_grad()
        (letters + recipe.edges * edges).backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        optimiser.step()
        averaged.update_parameters(net)
        if step % recipe.log_every == 0 or step == recipe.steps - 1:
            told = {"step": step, "seconds": clock.elapsed()}
            log.add(told | {"letters": letters.item(), "edges": edges.item()})
    log.save()
    found = cast(AlignerNet, averaged.module).eval()
    weigh_letters(found, examples)
    save_aligner(found, out / "aligner")
    return found


def _endlessly(
    examples: Sequence[Example], recipe: AlignerRecipe, rng: Random
) -> Iterator[list[Example]]:
    while True:
        yield from batches(examples, recipe.speech, rng)


@torch.no_grad()
def weigh_letters(net: AlignerNet, examples: Sequence[Example]) -> None:
    """Takes most of what each label is expected anyway off its score. Trained as it is, no letter
    is always the better guess, and a way through the words of a stream would rather wait."""
    labels, heard = net.config.labels, torch.zeros(net.config.labels)
    for row in examples[:WEIGHED]:
        heard += net(row.mel.float()[None])[0, :, :labels].softmax(-1).sum(0)
    net.head.bias[:labels] -= EXPECTATION * (heard / heard.sum()).log()


def save_aligner(net: AlignerNet, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    fields = {"model_type": MODEL_TYPE, **dataclasses.asdict(net.config)}
    (out / "config.json").write_text(json.dumps(fields, indent=2) + "\n", "utf-8")
    halves = {name: tensor.half().contiguous() for name, tensor in net.state_dict().items()}
    save_file(halves, out / "model.safetensors")


def _losses(
    net: AlignerNet, rows: Sequence[Example], recipe: AlignerRecipe, rng: Random
) -> tuple[Tensor, Tensor]:
    """Of a letter, and of a word's edge."""
    rows = [stretched(row, rng) for row in rows]
    logits = net(disturb(pad(rows, FLOOR), recipe.noise))
    labels = net.config.labels
    letters = letter_loss(logits[..., :labels].log_softmax(-1), list(pieces(rows, rng)))
    targets, known = edge_targets(rows, logits.shape[1])
    each = F.binary_cross_entropy_with_logits(logits[..., labels:], targets, reduction="none")
    edges = each[known].sum() / max(1.0, float(targets[known].sum()))
    return letters, edges


def letter_loss(scores: Tensor, found: Sequence[Piece]) -> Tensor:
    """CTC of each piece, over all their letters. `scores` [B, T, labels], log probabilities."""
    cut = [scores[piece.row, piece.first : piece.end] for piece in found]
    letters = torch.tensor([label for piece in found for label in piece.letters])
    total: Tensor = F.ctc_loss(
        pad_sequence(cut),
        letters,
        torch.tensor([len(each) for each in cut]),
        torch.tensor([len(piece.letters) for piece in found]),
        blank=BLANK,
        reduction="sum",
        zero_infinity=True,
    )
    return total / len(letters)


def disturb(mel: Tensor, share: float) -> Tensor:
    """Other levels, other microphones, noise and smears, so that it knows speech it was not taught
    from; `share` of the rows get each of the last two."""
    count, frames, bands = mel.shape
    mel = mel + 0.7 * torch.randn(count, 1, 1)
    mel = mel + 0.5 * torch.randn(count, 1, 1) * torch.linspace(-1, 1, bands)
    noise = torch.empty(count, 1, 1).uniform_(FLOOR, -4.0) + 0.5 * torch.randn(mel.shape)
    noisy = torch.rand(count, 1, 1) < share
    mel = torch.where(noisy, torch.logaddexp(mel, noise), mel.clamp(min=FLOOR))
    smeared = F.avg_pool1d(mel.transpose(1, 2), 3, stride=1, padding=1).transpose(1, 2)
    mel = torch.where(torch.rand(count, 1, 1) < share / 2, smeared, mel)
    return _masked(_masked(mel, 1, frames, 12), 2, bands, 10)


def _masked(mel: Tensor, axis: int, size: int, widest: int) -> Tensor:
    """Silence in up to `widest` neighbours of each row along an axis."""
    width = torch.randint(0, widest + 1, (len(mel), 1))
    first = (torch.rand(len(mel), 1) * (size - width).clamp(min=1)).long()
    places = torch.arange(size)[None]
    hidden = (places >= first) & (places < first + width)
    hidden = hidden[:, :, None] if axis == 1 else hidden[:, None]
    return mel.masked_fill(hidden, FLOOR)
