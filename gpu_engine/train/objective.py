"""What the Talker and the Code Predictor are trained to do, as one function of packed rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gpu_engine.models.speaker import SpeakerEncoder
from gpu_engine.models.talker import Talker
from gpu_engine.train.alignment import PHONES, PHONES_PER_FRAME
from gpu_engine.train.attends import FrameCausal, PackedAttend
from gpu_engine.train.sequence import IGNORED, NOTHING, SPEAKER_SLOT, Rows

FAR = -1e4  # a score that no softmax sees, finite so that its gradient stays a number
REPORT = (
    "loss",
    "code0",
    "codes",
    "guide",
    "phones",
    "code0_accuracy",
    "codes_accuracy",
    "phones_accuracy",
)


@dataclass(frozen=True, slots=True)
class Weights:
    """Of the loss's parts, and how inputs are disturbed while training."""

    codes: float = 1.0  # weighted mean over the predictor's 15 heads, beside code 0's 1.0
    group_decay: float = 0.9  # each head weighs so much of the one before
    phones: float = 0.3  # naming the next frame's phones from the hidden state
    end: float = 2.0  # of the end of speech among code 0's labels
    smoothing: float = 0.02  # of the labels of all codes
    dropout: float = 0.1
    frame_drop: float = 0.04  # frames that are not shown at all
    code_noise: float = 0.04  # codes that are shown wrong
    text_noise: float = 0.0  # text tokens that are shown wrong
    predictor_frames: int = 6144  # frames a step that the predictor learns from
    guide_layer: int = 2
    guide_heads: tuple[int, ...] = (0, 2)


class Learner(nn.Module):
    """Losses of packed rows. `vectors` [speakers, H] are the speaker encoder's latest answers: each
    step renews some of them, with gradient, and takes the others as they are.

    `phone_head` is dropped after training: a text's phones are certain where its codes are not, and
    they are all that an unseen spelling has to be good for."""

    vectors: Tensor
    presets: Tensor
    importance: Tensor
    group_weights: Tensor

    def __init__(
        self,
        talker: Talker,
        speaker: SpeakerEncoder | None,
        speakers: int,
        weights: Weights,
        words: int | None = None,
    ) -> None:
        """`words`: text ids from here on are marks, not text (default: all are text)."""
        super().__init__()
        self.talker, self.speaker, self.weights = talker, speaker, weights
        self.run: Callable[..., Tensor] = self.losses  # or its compiled form
        config = talker.config
        self.register_buffer("vectors", torch.zeros(speakers, config.hidden_size))
        presets = torch.tensor([*config.spk_id.values()], dtype=torch.int64)
        self.register_buffer("presets", presets, False)
        importance = torch.ones(config.vocab_size)
        importance[config.codec_eos_token_id] = weights.end
        self.register_buffer("importance", importance, False)
        groups = config.code_predictor_config.num_code_groups - 1
        decayed = weights.group_decay ** torch.arange(groups, dtype=torch.float32)
        self.register_buffer("group_weights", decayed / decayed.mean(), False)
        self.phone_head = nn.Linear(config.hidden_size, PHONES_PER_FRAME * PHONES)
        self.words = words or config.text_vocab_size
        self.guide_layer = min(weights.guide_layer, config.num_hidden_layers - 1)

    @property
    def figures(self) -> tuple[str, ...]:
        """Names of what `losses` returns: REPORT and each predicted code's accuracy."""
        groups = range(1, len(self.group_weights) + 1)
        return (*REPORT, *(f"code{group}_accuracy" for group in groups))

    def forward(
        self, rows: Rows, mels: Tensor, picks: Tensor, guidance: Tensor
    ) -> tuple[Tensor, Tensor]:
        """mels [R, frames, bands]: one recording of each of the speakers `picks` [R]; guidance: the
        weight of the guided-attention loss. Returns `figures` as a vector, and the new
        `vectors`."""
        vectors = self._renewed(mels, picks)
        return self.run(vectors, guidance, *rows.tensors()), vectors.detach()

    def losses(
        self,
        vectors: Tensor,
        guidance: Tensor,
        text: Tensor,
        codec: Tensor,
        speaker: Tensor,
        frame: Tensor,
        codes: Tensor,
        following: Tensor,
        phones: Tensor,
        label: Tensor,
        target: Tensor,
        place: Tensor,
        start: Tensor,
    ) -> Tensor:
        """Tensors only: this is what gets compiled. Arguments as in `Rows` and `forward`."""
        weights, dropout = self.weights, self.weights.dropout if self.training else 0.0
        if self.training and weights.text_noise:
            text = self._misspell(text, codec)
        inputs = self.embed(text, codec, speaker, frame, codes, vectors)
        inputs = F.dropout(inputs, dropout, dropout > 0)
        attend = PackedAttend(start, dropout, self.guide_layer)
        hidden = self.talker(inputs, place, attend)
        code0, right = self._first_codes(hidden, label)
        codes_loss, codes_right = self._predict(hidden, following, label, dropout)
        phones_loss, phones_right = self._name_phones(hidden, phones)
        guide = self._guide(attend, target, weights.guide_heads)
        total = code0 + weights.codes * codes_loss + guidance * guide + weights.phones * phones_loss
        parts = [total, code0, codes_loss, guide, phones_loss, right, codes_right.mean()]
        return torch.cat([torch.stack([*parts, phones_right]), codes_right])

    @property
    def _smoothing(self) -> float:
        return self.weights.smoothing if self.training else 0.0

    def _first_codes(self, hidden: Tensor, label: Tensor) -> tuple[Tensor, Tensor]:
        """Loss and accuracy of code 0 and the end of speech."""
        logits, flat = self.talker.logits(hidden).float().flatten(0, 1), label.flatten()
        loss = F.cross_entropy(
            logits, flat, self.importance, ignore_index=IGNORED, label_smoothing=self._smoothing
        )
        return loss, _accuracy(logits, flat)

    def _name_phones(self, hidden: Tensor, phones: Tensor) -> tuple[Tensor, Tensor]:
        """Loss and accuracy of the next frame's phones; nothing where none are known."""
        logits = self.phone_head(hidden.float()).unflatten(-1, (PHONES_PER_FRAME, PHONES))
        logits, flat = logits.float().flatten(0, 2), phones.flatten()
        total = F.cross_entropy(logits, flat, ignore_index=IGNORED, reduction="sum")
        return total / (flat != IGNORED).sum().clamp(min=1), _accuracy(logits, flat)

    def _misspell(self, text: Tensor, codec: Tensor) -> Tensor:
        """Some text tokens become any other; not those before the codec prefix."""
        other = (torch.rand(text.shape, device=text.device) * self.words).long()
        wrong = torch.rand(text.shape, device=text.device) < self.weights.text_noise
        return torch.where(wrong & (text < self.words) & (codec != NOTHING), other, text)

    def _renewed(self, mels: Tensor, picks: Tensor) -> Tensor:
        if self.speaker is None:
            return self.vectors
        return self.vectors.index_copy(0, picks, self.speaker(mels).float())

    def embed(
        self,
        text: Tensor,
        codec: Tensor,
        speaker: Tensor,
        frame: Tensor,
        codes: Tensor,
        vectors: Tensor,
    ) -> Tensor:
        """Talker inputs [B, L, H]; codes are disturbed while training."""
        talker, table = self.talker, self.talker.codec_embedding.weight
        spoken = torch.cat([table[self.presets], vectors])
        nothing = torch.zeros_like(table[:1])
        sides = torch.cat([table, spoken, nothing])
        shown = frame >= 0
        if self.training:
            codes, shown = self._disturb(codes, shown)
        codec = torch.where(frame >= 0, torch.where(shown, codes[..., 0], NOTHING), codec)
        index = torch.where(codec == SPEAKER_SLOT, len(table) + speaker, codec)
        index = torch.where(codec == NOTHING, len(sides) - 1, index)
        texts = talker.embed_text(torch.arange(talker.config.text_vocab_size, device=text.device))
        frames = talker.code_predictor.embed_codes(codes[..., 1:]) * shown[..., None]
        return F.embedding(text, texts.float()) + F.embedding(index, sides) + frames

    def _disturb(self, codes: Tensor, shown: Tensor) -> tuple[Tensor, Tensor]:
        weights, size = self.weights, self.talker.config.code_predictor_config.vocab_size
        chance = torch.rand(codes.shape, device=codes.device)
        other = (torch.rand(codes.shape, device=codes.device) * size).long().clamp(max=size - 1)
        kept = torch.rand(shown.shape, device=shown.device) >= weights.frame_drop
        return torch.where(chance < weights.code_noise, other, codes), shown & kept

    def _predict(
        self, hidden: Tensor, following: Tensor, label: Tensor, dropout: float
    ) -> tuple[Tensor, Tensor]:
        """Weighted loss, and accuracies [groups - 1], of codes 1..15 in a random choice of frames.

        The predictor sees the hidden state of the position *before* the frame, code 0, then codes
        1..14; what it says at code j's place is judged against code j + 1 by head j, unshifted.
        """
        end = self.talker.config.codec_eos_token_id
        valid = ((label != IGNORED) & (label != end)).flatten()
        chosen = _choose(valid, self.weights.predictor_frames)
        frames = following.flatten(0, 1)[chosen]
        states = self.predict(hidden.flatten(0, 1)[chosen], frames, dropout)
        logits = self.head_logits(states).float()
        wanted = frames[:, 1:].T
        each = F.cross_entropy(
            logits.flatten(0, 1),
            wanted.flatten(),
            reduction="none",
            label_smoothing=self._smoothing,
        )
        loss = (each.view(wanted.shape).mean(1) * self.group_weights).mean()
        return loss, (logits.argmax(-1) == wanted).float().mean(1)

    def predict(self, hidden: Tensor, frames: Tensor, dropout: float = 0.0) -> Tensor:
        """Predictor states [K, groups - 1, width] before codes 1..15 of `frames` [K, groups]."""
        predictor = self.talker.code_predictor
        known = [hidden.float(), self.talker.codec_embedding(frames[:, 0])]
        for group, table in enumerate(predictor.codec_embedding[:-1]):
            known.append(table(frames[:, group + 1]))
        inputs = torch.stack(known, 1)
        places = torch.arange(inputs.shape[1], device=inputs.device)[None]
        states: Tensor = predictor(inputs, places, FrameCausal(dropout))[:, 1:]
        return states

    def head_logits(self, states: Tensor) -> Tensor:
        """[K, groups - 1, width] to [groups - 1, K, codes], each group by its own head."""
        heads = [cast(Tensor, head.weight) for head in self.talker.code_predictor.lm_head]
        logits: Tensor = states.transpose(0, 1) @ torch.stack(heads).transpose(1, 2)
        return logits

    def _guide(self, attend: PackedAttend, target: Tensor, heads: tuple[int, ...]) -> Tensor:
        """Mean of -log(attention that rests on the text being spoken) over the guided heads."""
        assert attend.kept is not None
        q, k = (x[:, :, list(heads)].transpose(1, 2) for x in attend.kept)
        scores = (q @ k.transpose(2, 3)).float() * q.shape[-1] ** -0.5
        scores = scores.masked_fill(~attend.mask, FAR)
        at = torch.arange(scores.shape[-1], device=scores.device)
        right = (at >= target[..., :1]) & (at <= target[..., 1:]) & attend.mask[:, 0]
        inside = scores.masked_fill(~right[:, None], FAR)
        missed = scores.logsumexp(-1) - inside.logsumexp(-1)
        judged = right.any(-1)[:, None].expand_as(missed)
        loss: Tensor = (missed * judged).sum() / judged.sum().clamp(min=1)
        return loss


def _accuracy(logits: Tensor, wanted: Tensor) -> Tensor:
    """Share of the labels [N] that are not IGNORED and have the highest of logits [N, classes]."""
    judged = wanted != IGNORED
    right = (logits.argmax(-1) == wanted) & judged
    return right.sum() / judged.sum().clamp(min=1)


def _choose(valid: Tensor, count: int) -> Tensor:
    """`count` random places where `valid` [N] is true, with repetition; the host never looks."""
    total = len(valid)
    order = valid.cumsum(0)
    slot = torch.where(valid, order - 1, total)
    places = torch.zeros(total + 1, dtype=torch.int64, device=valid.device)
    places = places.scatter(0, slot, torch.arange(total, device=valid.device))
    drawn = (torch.rand(count, device=valid.device) * order[-1]).long()
    return places[drawn.minimum((order[-1] - 1).clamp(min=0))]


def initialise(talker: Talker, speaker: SpeakerEncoder | None, seed: int) -> None:
    """Small normal weights; what adds to a residual stream is scaled down with its depth."""
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in talker.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
        elif parameter.ndim == 2:
            nn.init.normal_(parameter, 0.0, _spread(talker, name, parameter), generator)
    if speaker is not None:
        nn.init.normal_(speaker.fc.weight, 0.0, 0.01, generator)


def _spread(talker: Talker, name: str, parameter: Tensor) -> float:
    if "embedding" in name:
        return 0.05
    if "head" in name:
        return 0.02
    spread = 0.7 * parameter.shape[1] ** -0.5
    if name.endswith(("o_proj.weight", "down_proj.weight")):
        config = talker.config
        inner = config.code_predictor_config if "code_predictor" in name else config
        return float(spread * (2 * inner.num_hidden_layers) ** -0.5)
    return float(spread)
