"""The codec's quantizer in training: codebooks that follow running means, straight-through."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from gpu_engine.models.codec.decoder import CodecDecoder
from gpu_engine.models.codec.encoder import CodecEncoder, EncoderQuantizer
from gpu_engine.models.codec.quantizer import ResidualQuantizer

DECAY = 0.98
DEAD_USAGE = 0.03  # of the mean usage; below it an entry restarts at a random vector
KMEANS_ROUNDS = 8


class RunningNorm(nn.Module):
    """Normalises channels by running statistics, so that it folds into the layers around it.

    Free latents grow without bound (a standard deviation of 560 after 230 steps was seen)."""

    mean: Tensor
    var: Tensor
    seen: Tensor
    steps: Tensor

    def __init__(self, width: int, memory: int = 100) -> None:
        super().__init__()
        self.memory = memory
        self.register_buffer("steps", torch.zeros(()))
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("var", torch.ones(width))
        self.register_buffer("seen", torch.zeros(2, width), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """x [B, C, T]; leaves the batch's statistics for `follow`."""
        self.seen[0].copy_(x.detach().mean((0, 2)))
        self.seen[1].copy_(x.detach().var((0, 2)))
        return (x - self.mean[:, None]) * self.inverse()[:, None]

    def inverse(self) -> Tensor:
        return (self.var + 1e-5).rsqrt()

    def follow(self) -> None:
        """A plain mean over the first `memory` steps, an exponential one after."""
        self.steps.add_(1)
        share = 1 / self.steps.clamp(max=self.memory)
        self.mean.lerp_(self.seen[0], share)
        self.var.lerp_(self.seen[1], share)


@dataclass(frozen=True, slots=True)
class Quantized:
    """`vectors` [B, D, T] carry the encoder's gradient; `commitment` pulls it to the entries."""

    vectors: Tensor
    commitment: Tensor


class RunningCodebooks(nn.Module):
    """`levels` residual codebooks [levels, size, dim] with their running usage."""

    entries: Tensor
    usage: Tensor
    seen_usage: Tensor
    seen_sums: Tensor
    candidates: Tensor

    def __init__(self, levels: int, size: int, dim: int) -> None:
        super().__init__()
        self.levels, self.size = levels, size
        self.register_buffer("entries", torch.randn(levels, size, dim) * 0.1)
        self.register_buffer("usage", torch.ones(levels, size))
        for name, shape in (
            ("seen_usage", (levels, size)),
            ("seen_sums", (levels, size, dim)),
            ("candidates", (levels, size, dim)),
        ):
            self.register_buffer(name, torch.zeros(shape), persistent=False)

    def forward(self, x: Tensor, active: Tensor) -> Quantized:
        """x [B, D, T]; active bool [B, levels]: rows drop their deeper levels at random."""
        vectors = x.transpose(1, 2)
        total = torch.zeros_like(vectors)
        commitment = x.new_zeros(())
        for level in range(self.levels):
            on = active[:, level, None, None]
            residual = vectors - total.detach()
            found = self._search(level, residual.detach())
            chosen = self.entries[level][found]
            commitment = commitment + ((residual - chosen).square() * on).mean()
            total = total + chosen * on
        straight = vectors + (total - vectors).detach()
        return Quantized(straight.transpose(1, 2), commitment / self.levels)

    def _search(self, level: int, residual: Tensor) -> Tensor:
        """Nearest entries [B, T]; leaves this batch's statistics for `follow`."""
        flat = residual.flatten(0, 1)
        entries = self.entries[level]
        found = (entries.square().sum(1) - 2 * flat @ entries.T).argmin(1)
        usage = flat.new_zeros(self.size).index_add_(0, found, flat.new_ones(len(flat)))
        sums = torch.zeros_like(entries).index_add_(0, found, flat)
        pick = (torch.rand(self.size, device=flat.device) * len(flat)).long()
        self.seen_usage[level].copy_(usage)
        self.seen_sums[level].copy_(sums)
        self.candidates[level].copy_(flat[pick])
        return found.view(residual.shape[:-1])

    def follow(self) -> None:
        """Moves the entries by the last batch; those nearly unused restart at its vectors."""
        sums = self.entries * self.usage[..., None]
        sums.lerp_(self.seen_sums, 1 - DECAY)
        self.usage.lerp_(self.seen_usage, 1 - DECAY)
        mean_usage = self.usage.mean(1, keepdim=True)
        dead = self.usage < DEAD_USAGE * mean_usage
        moved = sums / self.usage.clamp(min=1e-4)[..., None]
        self.entries.copy_(torch.where(dead[..., None], self.candidates, moved))
        self.usage.copy_(torch.where(dead, mean_usage, self.usage))

    @torch.no_grad()
    def start(self, x: Tensor) -> None:
        """k-means on vectors x [n, D], level after level on what the ones before left over."""
        turns = torch.arange(self.size, device=x.device) % len(x)
        for level in range(self.levels):
            entries = x[torch.randperm(len(x), device=x.device)[turns]]
            for _ in range(KMEANS_ROUNDS):
                found = (entries.square().sum(1) - 2 * x @ entries.T).argmin(1)
                usage = x.new_zeros(self.size).index_add_(0, found, x.new_ones(len(x)))
                sums = torch.zeros_like(entries).index_add_(0, found, x)
                mean = sums / usage.clamp(min=1)[:, None]
                entries = torch.where(usage[:, None] > 0, mean, entries)
            self.entries[level].copy_(entries)
            self.usage[level].copy_(usage.clamp(min=0.5))
            x = x - entries[found]


class TrainingQuantizer(nn.Module):
    """Encoder latents to decoder latents through both codebook stacks, with the projections of the
    exported modules."""

    def __init__(self, encoder: CodecEncoder, decoder: CodecDecoder) -> None:
        super().__init__()
        config = encoder.config
        size, dim = config.codebook_size, config.codebook_dim
        self.norm = RunningNorm(config.hidden_size)
        self.semantic = RunningCodebooks(1, size, dim)
        self.acoustic = RunningCodebooks(encoder.groups - 1, size, dim)
        # Lists, not attributes: the projections stay the encoder's and decoder's parameters.
        quantizer = encoder.quantizer
        self._into = [
            quantizer.semantic_residual_vector_quantizer.input_proj,
            quantizer.acoustic_residual_vector_quantizer.input_proj,
        ]
        self._out = [
            decoder.quantizer.rvq_first.output_proj,
            decoder.quantizer.rvq_rest.output_proj,
        ]

    def project(self, latents: Tensor) -> tuple[Tensor, Tensor]:
        normed = self.norm(latents)
        return self._into[0](normed), self._into[1](normed)

    def forward(
        self, latents: Tensor, *, quantize: bool, dropout: float
    ) -> tuple[Tensor, Tensor, Tensor]:
        """-> decoder latents, semantic vectors [B, D, T], commitment loss."""
        semantic, acoustic = self.project(latents)
        commitment = latents.new_zeros(())
        if quantize:
            rows = latents.shape[0]
            first = self.semantic(semantic, torch.ones(rows, 1, device=latents.device) > 0)
            rest = self.acoustic(acoustic, self._active(rows, dropout, latents.device))
            semantic, acoustic = first.vectors, rest.vectors
            commitment = first.commitment + rest.commitment
        return self._out[0](semantic) + self._out[1](acoustic), semantic, commitment

    def _active(self, rows: int, dropout: float, device: torch.device) -> Tensor:
        levels = self.acoustic.levels
        depth = (torch.rand(rows, 1, device=device) * (levels + 1)).long()
        whole = torch.rand(rows, 1, device=device) >= dropout
        return (torch.arange(levels, device=device) < depth) | whole

    def statistics(self) -> list[Tensor]:
        """What ranks average after a step."""
        books = (self.semantic, self.acoustic)
        return [self.norm.seen, *(t for b in books for t in (b.seen_usage, b.seen_sums))]

    def candidates(self) -> list[Tensor]:
        """What ranks take from the first one after a step."""
        return [self.semantic.candidates, self.acoustic.candidates]

    @torch.no_grad()
    def start(self, latents: Tensor) -> None:
        """Codebooks from data, when quantizing begins."""
        for books, vectors in zip(
            (self.semantic, self.acoustic), self.project(latents), strict=True
        ):
            books.start(vectors.transpose(1, 2).flatten(0, 1))

    @torch.no_grad()
    def take(self, decoder: CodecDecoder) -> None:
        """The codebooks of a finished codec; what norm they fit to is found from speech."""
        stacks = (decoder.quantizer.rvq_first, decoder.quantizer.rvq_rest)
        for books, stack in zip((self.semantic, self.acoustic), stacks, strict=True):
            for level, codebook in enumerate(stack.codebooks()):
                books.entries[level].copy_(codebook.entries())

    @torch.no_grad()
    def absorb(self, encoder: CodecEncoder) -> None:
        """Moves the norm's scale into the encoder's last weights: latents of deviation 1."""
        inverse = self.norm.inverse()
        encoder.downsample.conv.weight.mul_(inverse[:, None, None])
        self.norm.mean.mul_(inverse)
        self.norm.var.fill_(1)

    def export(self, encoder: CodecEncoder, decoder: CodecDecoder) -> None:
        """Writes codebooks and the folded norm into modules that have no norm of their own."""
        self.absorb(encoder)
        stacks = (
            (self.semantic, decoder.quantizer.rvq_first),
            (self.acoustic, decoder.quantizer.rvq_rest),
        )
        theirs = (
            encoder.quantizer.semantic_residual_vector_quantizer,
            encoder.quantizer.acoustic_residual_vector_quantizer,
        )
        for (books, stack), search in zip(stacks, theirs, strict=True):
            self._export(books, stack, search)
        decoder.quantizer.refresh()

    @torch.no_grad()
    def _export(
        self, books: RunningCodebooks, stack: ResidualQuantizer, search: EncoderQuantizer
    ) -> None:
        # P (x - m) = P x - P m: the constant moves into the first codebook.
        shift = search.input_proj.weight[..., 0] @ self.norm.mean
        for level, (mine, other) in enumerate(
            zip(stack.codebooks(), search.codebooks(), strict=True)
        ):
            mine.embedding_sum.copy_(books.entries[level])
            mine.cluster_usage.fill_(1)
            other.embed_sum.copy_(books.entries[level] + (shift if level == 0 else 0))
            other.cluster_usage.fill_(1)
