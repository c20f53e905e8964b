"""The Talker and the Code Predictor in C."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import CDLL, Array, Structure, byref, c_long, c_void_p

import torch
from torch import Tensor, nn

from gpu_engine.models.sampling import SpeechRules
from gpu_engine.models.talker import Talker
from gpu_engine.native.layout import Draw, Matrix, Packer, PredictorLayout, TalkerLayout
from gpu_engine.runner.kv_cache import KvCache

Draws = Array[Draw]


class NativeTalker:
    """Positions of several streams through the layers, and the next code 0 of each."""

    def __init__(self, talker: Talker, rules: SpeechRules, kv: KvCache, library: CDLL) -> None:
        self.pack, self._kv = Packer(), kv
        config = talker.config
        self._width, self._length = config.hidden_size, kv.keys.shape[3]
        with torch.no_grad():
            layers = [self.pack.layer(layer) for layer in talker.model.layers]  # type: ignore[arg-type]
            stack = self.pack.stack(layers, config, self._length)
            head = self.pack.matrix(talker.codec_head.weight.t())
            self._gain = self.pack.keep(talker.model.norm.weight)
        self._blocked = rules.blocked
        blocked = self._blocked.data_ptr()
        self._layout = TalkerLayout(stack, head, blocked, config.vocab_size, rules.end)
        self._function, self._size = library.talk, library.talker_scratch
        self._function.restype, self._size.restype = None, c_long
        self._scratch = torch.empty(0)

    def __call__(
        self,
        inputs: Tensor,
        slots: Sequence[int],
        positions: Sequence[int],
        seen: Tensor,
        tokens: Tensor,
        draws: Draws,
    ) -> tuple[Tensor, Tensor]:
        """inputs [rows, H], one position each, of streams in `slots`; hidden [n, H] and code 0 [n]
        of the last n rows, one for each of `draws`. Their histories `seen` and `tokens` grow."""
        rows, last = len(inputs), slots[len(slots) - len(draws) :]
        x, sampled = inputs.float().clone(memory_format=torch.contiguous_format), len(draws)
        hidden = torch.empty(sampled, self._width)
        code0 = torch.empty(sampled, dtype=torch.int64)
        places = torch.tensor(positions, dtype=torch.int64)
        keys, values = self._kv.keys, self._kv.values
        self._function(
            byref(self._layout),
            c_void_p(self._gain),
            c_void_p(x.data_ptr()),
            c_long(rows),
            _rows_of(keys[0], slots),
            _rows_of(values[0], slots),
            c_long(keys.stride(0)),
            c_long(self._length),
            c_void_p(places.data_ptr()),
            c_long(sampled),
            _rows_of(seen, last),
            _rows_of(tokens, last),
            draws,
            c_void_p(hidden.data_ptr()),
            c_void_p(code0.data_ptr()),
            c_void_p(self._room(rows).data_ptr()),
        )
        return hidden, code0

    def _room(self, rows: int) -> Tensor:
        wanted = self._size(byref(self._layout), c_long(rows), c_long(self._length))
        if wanted > len(self._scratch):
            self._scratch = torch.empty(wanted)
        return self._scratch


class NativePredictor:
    """A frame's other codes for several streams, and the sum of its embeddings."""

    def __init__(self, talker: Talker, library: CDLL) -> None:
        predictor, self.pack = talker.code_predictor, Packer()
        config, pack = predictor.config, self.pack
        self._groups, self._width = config.num_code_groups, talker.config.hidden_size
        with torch.no_grad():
            layers = [pack.layer(layer) for layer in predictor.model.layers]  # type: ignore[arg-type]
            heads = [pack.folded(h.weight, predictor.model.norm) for h in predictor.lm_head]  # type: ignore[arg-type]
            tables = [table.weight for table in predictor.codec_embedding]
            inputs = [pack.keep(predictor.project(table)) for table in tables]  # type: ignore[arg-type]
            self._layout = PredictorLayout(
                pack.stack(layers, config, self._groups),
                _projection(pack, getattr(predictor, "small_to_mtp_projection", None)),
                pack.array(heads),
                pack.array(inputs),
                pack.array([pack.keep(table) for table in tables]),  # type: ignore[arg-type]
                self._groups,
                self._width,
                config.vocab_size,
            )
        self._function, self._size = library.predict, library.predictor_scratch
        self._function.restype, self._size.restype = None, c_long
        self._scratch = torch.empty(0)

    def __call__(
        self, hidden: Tensor, first: Tensor, draws: Draws, noise: Tensor
    ) -> tuple[Tensor, Tensor]:
        """hidden and first [rows, H], noise [rows, groups]: codes 1.. [rows, groups - 1] and the
        sum of all of the frame's embeddings [rows, H]."""
        rows = len(hidden)
        hidden, first, noise = hidden.contiguous(), first.contiguous(), noise.contiguous()
        codes = torch.empty(rows, self._groups - 1, dtype=torch.int64)
        total, places = torch.empty(rows, self._width), torch.empty(6 * rows, dtype=torch.int64)
        wanted = self._size(byref(self._layout), c_long(rows))
        if wanted > len(self._scratch):
            self._scratch = torch.empty(wanted)
        self._function(
            byref(self._layout),
            c_void_p(hidden.data_ptr()),
            c_void_p(first.data_ptr()),
            c_long(rows),
            draws,
            c_void_p(noise.data_ptr()),
            c_void_p(codes.data_ptr()),
            c_void_p(total.data_ptr()),
            c_void_p(places.data_ptr()),
            c_void_p(places.data_ptr() + 32 * rows),
            c_void_p(self._scratch.data_ptr()),
        )
        return codes, total


def _projection(pack: Packer, module: nn.Linear | None) -> Matrix | Structure:
    if module is None:
        return Matrix(None, None, 0, 0, 0, 0)
    return pack.matrix(module.weight.t(), module.bias)


def _rows_of(tensor: Tensor, rows: Sequence[int]) -> Array[c_void_p]:
    """Addresses of some rows of the first dimension."""
    start, step = tensor.data_ptr(), tensor.stride(0) * tensor.element_size()
    return (c_void_p * len(rows))(*(start + step * row for row in rows))
