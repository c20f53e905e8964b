"""The codec decoder in C: frames of one stream to audio, its memory updated in place."""

from __future__ import annotations

from collections.abc import Iterator
from ctypes import CDLL, byref, c_int64, c_long, c_void_p
from threading import local
from typing import Any

import numpy as np
import torch
from torch import Tensor

from gpu_engine.audio.level import Samples
from gpu_engine.models.codec import CodecDecoder, CodecState
from gpu_engine.native.layout import CodecLayout, Convolution, Layer, MixLayout, Packer

# Frames in one go: enough to use each weight more than once, few enough to stay in the cache.
BLOCK = 4


class NativeCodec:
    """A snapshot of a decoder's weights: take a new one when they change."""

    def __init__(self, decoder: CodecDecoder, library: CDLL, longest: int) -> None:
        self.pack, self._config = Packer(), decoder.config
        self._memory = 0
        config = decoder.config
        with torch.no_grad():
            self._convolutions = list(self._all_convolutions(decoder))
            mixes = [self._mix(stage[1]) for stage in decoder.upsample]  # type: ignore[index]
            heads = config.num_attention_heads * config.sliding_window * config.head_dim
            keys = self._place(heads * config.num_hidden_layers)
            values = self._place(heads * config.num_hidden_layers)
            self._layout = self._lay_out(decoder, mixes, longest, (keys, values, heads))
        self._function = library.decode
        self._function.restype = None
        self._room = self._widest()
        self._spaces = local()

    def state(self, slots: int) -> CodecState:
        """All streams' memory, one row a slot."""
        return CodecState(
            torch.zeros(slots, dtype=torch.int64), (torch.zeros(slots, self._memory),)
        )

    def decode(self, state: CodecState, slot: int, codes: Tensor) -> Samples:
        """The next frames of a stream: codes int64 [n, groups], in one piece, to float32 audio.
        Several threads may decode at once, each another slot."""
        frames, each = len(codes), self._config.samples_per_frame
        audio: Samples = np.empty(frames * each, np.float32)
        position, memory = int(state.position[slot]), state.memory[0]
        space = self._space()
        row = memory.data_ptr() + memory.stride(0) * memory.element_size() * slot
        for at in range(0, frames, BLOCK):
            count = min(BLOCK, frames - at)
            self._function(
                byref(self._layout),
                c_void_p(row),
                c_int64(position + at),
                c_void_p(codes.data_ptr() + at * codes.shape[1] * codes.element_size()),
                c_long(count),
                c_void_p(audio.ctypes.data + 4 * at * each),
                c_void_p(space.data_ptr()),
                c_long(self._room),
            )
        state.position[slot] = position + frames
        return audio

    def _space(self) -> Tensor:
        """This thread's working memory."""
        if not hasattr(self._spaces, "space"):
            self._spaces.space = torch.empty(5 * self._room)
        space: Tensor = self._spaces.space
        return space

    def _lay_out(
        self, decoder: CodecDecoder, mixes: list[MixLayout], longest: int, caches: tuple[int, ...]
    ) -> CodecLayout:
        pack, part, config = self.pack, decoder.pre_transformer, decoder.config
        layers = [self._layer(layer) for layer in part.layers]
        return CodecLayout(
            pack.stack(layers, config, longest),
            pack.matrix(part.input_proj.weight.t(), part.input_proj.bias),
            pack.matrix(part.output_proj.weight.t(), part.output_proj.bias),
            pack.keep(part.norm.weight),
            pack.keep(decoder.quantizer.table()),
            pack.array(self._convolutions),
            pack.array(mixes),
            config.num_quantizers,
            config.codebook_size,
            config.codebook_dim,
            config.sliding_window,
            len(self._convolutions),
            len(mixes),
            *caches,
        )

    def _place(self, floats: int) -> int:
        """Where the next so many floats of a stream's memory lie."""
        place = self._memory
        self._memory += floats
        return place

    def _all_convolutions(self, decoder: CodecDecoder) -> Iterator[Convolution]:
        """In the order in which they run."""
        yield self._convolution(decoder.pre_conv)
        for stage in decoder.upsample:
            yield self._upsample(stage[0])  # type: ignore[index]
        first, *blocks, act, last = decoder.decoder
        yield self._convolution(first)
        for block in blocks:
            act_in, up, *units = block.block  # type: ignore[misc]
            yield self._upsample(up, act_in)
            for unit in units:
                yield self._convolution(unit.conv1, unit.act1, keeps=1)
                yield self._convolution(unit.conv2, unit.act2, adds=1)
        yield self._convolution(last, act)

    def _convolution(
        self, module: Any, act: Any = None, keeps: int = 0, adds: int = 0
    ) -> Convolution:
        weight, (dilation,) = module.conv.weight, module.conv.dilation
        flat = weight.permute(2, 1, 0).flatten(0, 1)
        matrix = self.pack.matrix(flat, module.conv.bias, weight.shape[-1])
        memory = self._place(module.columns * weight.shape[1])
        rate, gain = self._snake(act)
        return Convolution(matrix, rate, gain, module.columns, dilation, 1, keeps, adds, memory)

    def _upsample(self, module: Any, act: Any = None) -> Convolution:
        weight, rate, columns = module.conv.weight, module.stride, module.columns
        # [inputs, outputs, columns + 1, rate]: the newest column holds the first taps, yet is last.
        taps = weight.view(*weight.shape[:2], columns + 1, rate).flip(2)
        flat = taps.permute(2, 0, 3, 1).flatten(2).flatten(0, 1)
        matrix = self.pack.matrix(flat, module.conv.bias.repeat(rate), columns + 1)
        memory = self._place(columns * weight.shape[0])
        speed, gain = self._snake(act)
        return Convolution(matrix, speed, gain, columns, 1, rate, 0, 0, memory)

    def _snake(self, act: Any) -> tuple[int | None, int | None]:
        if act is None:
            return None, None
        gain = (act.beta.exp() + 1e-9).reciprocal()
        return self.pack.keep(act.alpha.exp()), self.pack.keep(gain)

    def _mix(self, block: Any) -> MixLayout:
        pack, depthwise, width = self.pack, block.dwconv.conv, block.gamma.shape[0]
        narrow = block.pwconv2.weight.t() * block.gamma
        kernel = depthwise.weight.shape[-1]
        return MixLayout(
            pack.matrix(block.pwconv1.weight.t(), block.pwconv1.bias),
            pack.matrix(narrow, block.pwconv2.bias * block.gamma),
            pack.keep(depthwise.weight[:, 0].t()),
            pack.keep(depthwise.bias),
            pack.keep(block.norm.weight),
            pack.keep(block.norm.bias),
            kernel,
            width,
            block.norm.eps,
            self._place((kernel - 1) * width),
        )

    def _layer(self, layer: Any) -> Layer:
        pack, mix, mlp = self.pack, layer.self_attn, layer.mlp
        qkv = torch.cat([mix.q_proj.weight, mix.k_proj.weight, mix.v_proj.weight])
        gate_up = torch.cat([mlp.gate_proj.weight, mlp.up_proj.weight])
        return Layer(
            pack.folded(qkv, layer.input_layernorm),
            pack.matrix(mix.o_proj.weight.t() * layer.self_attn_layer_scale.scale),
            pack.folded(gate_up, layer.post_attention_layernorm),
            pack.matrix(mlp.down_proj.weight.t() * layer.mlp_layer_scale.scale),
            None,
            None,
        )

    def _widest(self) -> int:
        """Floats of a buffer that holds any stage of a block, its memory in front."""
        rows, most = BLOCK, 0
        for conv in self._convolutions:
            most = max(most, (conv.columns + rows) * conv.matrix.k)
            rows *= conv.grows
            most = max(most, rows * max(conv.matrix.n // conv.grows, 1))
        config = self._config
        inner = 8 * BLOCK * max(config.intermediate_size, config.hidden_size, config.latent_dim)
        wide = [BLOCK * 4 * 4 * config.latent_dim * m for m in config.upsampling_ratios]
        return max(most, inner + config.sliding_window, *wide)
