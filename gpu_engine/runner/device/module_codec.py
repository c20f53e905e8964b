"""The codec over slots by its own PyTorch modules: any device, and the measure of the kernels."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from gpu_engine.models.codec import CodecDecoder


class ModuleCodec:
    """As `codec.CodecStep` and its arena in one, for any batch and chunk; no padding frames."""

    def __init__(self, decoder: CodecDecoder, slots: int) -> None:
        device = decoder.quantizer.table().device
        self.decoder = decoder
        self.state = decoder.initial_state(slots + 1, device)

    def reset(self, slot: Tensor) -> None:
        """Slot int64 [1], back to the start of a stream."""
        for tensor in (self.state.position, *self.state.memory):
            tensor.index_fill_(0, slot, 0)

    def save(self, slot: int) -> list[Tensor]:
        """A copy of a slot's memory."""
        return [tensor[slot].clone() for tensor in (self.state.position, *self.state.memory)]

    def load(self, slot: int, saved: Sequence[Tensor]) -> None:
        every = (self.state.position, *self.state.memory)
        for tensor, copy in zip(every, saved, strict=True):
            tensor[slot] = copy

    def __call__(self, slots: Tensor, codes: Tensor, real: Tensor) -> Tensor:
        """slots int64 [B], codes int64 [B, n, groups], all n real: audio float32 [B, samples]."""
        state = self.state.select(slots)
        audio, state = self.decoder.step(codes.transpose(1, 2), state)
        self.state.store(slots, state)
        return audio
