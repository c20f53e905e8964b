"""Codec encoder: 24 kHz audio to codes; used for cloning and to prepare training data."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gpu_engine.config import CodecEncoderConfig
from gpu_engine.models.codec.quantizer import USAGE_FLOOR
from gpu_engine.models.codec.transformer import RotaryTable, Scale, rotate

# By matrix product the distance of two large neighbours cancels; in TF32 every code came out equal.
EXACT = "donot_use_mm_for_euclid_dist"


class StridedConv(nn.Module):
    """Causal conv: k - s columns of padding on the left, and on the right up to a whole stride."""

    def __init__(
        self, inputs: int, outputs: int, kernel: int, stride: int = 1, *, bias: bool = True
    ) -> None:
        super().__init__()
        self.conv = nn.Conv1d(inputs, outputs, kernel, stride, bias=bias)
        self.left, self.stride = kernel - stride, stride

    def forward(self, x: Tensor, mode: str = "constant") -> Tensor:
        right = -x.shape[-1] % self.stride
        y: Tensor = self.conv(F.pad(x, (self.left, right), mode=mode))
        return y


class ResidualBlock(nn.Module):
    def __init__(self, width: int, config: CodecEncoderConfig) -> None:
        super().__init__()
        inner = width // config.compress
        self.block = nn.ModuleList(
            [
                nn.ELU(),
                StridedConv(width, inner, config.residual_kernel_size),
                nn.ELU(),
                StridedConv(inner, width, 1),
            ]
        )

    def forward(self, x: Tensor) -> Tensor:
        y = x
        for layer in self.block:
            y = layer(y)
        return x + y


class ConvStack(nn.Module):
    """Audio [B, 1, S] -> [B, hidden, ceil(S / 960)]."""

    def __init__(self, config: CodecEncoderConfig) -> None:
        super().__init__()
        width = config.num_filters
        layers: list[nn.Module] = [StridedConv(1, width, config.kernel_size)]
        for ratio in reversed(config.upsampling_ratios):
            down = StridedConv(width, 2 * width, 2 * ratio, ratio)
            layers += [ResidualBlock(width, config), nn.ELU(), down]
            width *= 2
        layers += [nn.ELU(), StridedConv(width, config.hidden_size, config.last_kernel_size)]
        self.layers = nn.ModuleList(layers)

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


class Attention(nn.Module):
    def __init__(self, config: CodecEncoderConfig) -> None:
        super().__init__()
        width = config.num_attention_heads * config.head_dim
        self.heads = config.num_attention_heads
        self.q_proj = nn.Linear(config.hidden_size, width, bias=False)
        self.k_proj = nn.Linear(config.hidden_size, width, bias=False)
        self.v_proj = nn.Linear(config.hidden_size, width, bias=False)
        self.o_proj = nn.Linear(width, config.hidden_size, bias=False)

    def forward(self, x: Tensor, table: tuple[Tensor, Tensor]) -> Tensor:
        q, k, v = (
            proj(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for proj in (self.q_proj, self.k_proj, self.v_proj)
        )
        q, k = rotate(q, table), rotate(k, table)
        # The reference never applies its config's window of 250 (transformers 4.57, SDPA).
        context = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        y: Tensor = self.o_proj(context.transpose(1, 2).flatten(2))
        return y


class Mlp(nn.Module):
    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.fc1 = nn.Linear(width, inner, bias=False)
        self.fc2 = nn.Linear(inner, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.fc2(F.gelu(self.fc1(x)))
        return y


class Layer(nn.Module):
    def __init__(self, config: CodecEncoderConfig) -> None:
        super().__init__()
        width = config.hidden_size
        self.input_layernorm = nn.LayerNorm(width, eps=config.norm_eps)
        self.self_attn = Attention(config)
        self.self_attn_layer_scale = Scale(width)
        self.post_attention_layernorm = nn.LayerNorm(width, eps=config.norm_eps)
        self.mlp = Mlp(width, config.intermediate_size)
        self.mlp_layer_scale = Scale(width)

    def forward(self, x: Tensor, table: tuple[Tensor, Tensor]) -> Tensor:
        x = x + self.self_attn_layer_scale(self.self_attn(self.input_layernorm(x), table))
        return x + self.mlp_layer_scale(self.mlp(self.post_attention_layernorm(x)))  # type: ignore[no-any-return]


class Transformer(nn.Module):
    """[B, n, hidden] -> the same; causal, no final norm."""

    def __init__(self, config: CodecEncoderConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))
        self.rotary = RotaryTable(config.head_dim, config.rope_theta)

    def forward(self, x: Tensor) -> Tensor:
        table = self.rotary(torch.arange(x.shape[1], device=x.device))
        for layer in self.layers:
            x = layer(x, table)
        return x


class EncoderCodebook(nn.Module):
    def __init__(self, size: int, dim: int) -> None:
        super().__init__()
        self.embed_sum = nn.Parameter(torch.zeros(size, dim), requires_grad=False)
        self.cluster_usage = nn.Parameter(torch.ones(size), requires_grad=False)
        self.initialized = nn.Parameter(torch.ones(1), requires_grad=False)

    def entries(self) -> Tensor:
        return self.embed_sum.float() / self.cluster_usage.float().clamp(min=USAGE_FLOOR)[:, None]


class _Layer(nn.Module):
    def __init__(self, size: int, dim: int) -> None:
        super().__init__()
        self.codebook = EncoderCodebook(size, dim)


class EncoderQuantizer(nn.Module):
    """Residual search: each codebook takes the entry nearest to what the ones before left over."""

    def __init__(self, layers: int, config: CodecEncoderConfig) -> None:
        super().__init__()
        dim = config.vector_quantization_hidden_dimension
        self.input_proj = nn.Conv1d(config.hidden_size, dim, 1, bias=False)
        self.output_proj = nn.Conv1d(dim, config.hidden_size, 1, bias=False)
        self.layers = nn.ModuleList(
            _Layer(config.codebook_size, config.codebook_dim) for _ in range(layers)
        )

    def codebooks(self) -> list[EncoderCodebook]:
        return [layer.codebook for layer in self.layers]  # type: ignore[misc]

    def encode(self, x: Tensor, groups: int) -> Tensor:
        """x [B, hidden, T] -> codes int64 [B, groups, T]."""
        residual = self.input_proj(x).transpose(1, 2).float()
        codes = []
        for book in self.codebooks()[:groups]:
            entries = book.entries()
            nearest = torch.cdist(residual, entries[None], compute_mode=EXACT).argmin(-1)
            residual = residual - entries[nearest]
            codes.append(nearest)
        return torch.stack(codes, dim=1)


class EncoderSplitQuantizer(nn.Module):
    def __init__(self, config: CodecEncoderConfig) -> None:
        super().__init__()
        semantic = config.num_semantic_quantizers
        self.semantic_residual_vector_quantizer = EncoderQuantizer(semantic, config)
        self.acoustic_residual_vector_quantizer = EncoderQuantizer(
            config.num_quantizers - semantic, config
        )


class CodecEncoder(nn.Module):
    """Audio [B, S] at 24 kHz to codes [B, groups, ceil(S / 1920)]."""

    def __init__(self, config: CodecEncoderConfig, groups: int = 16) -> None:
        super().__init__()
        self.config, self.groups = config, groups
        self.encoder = ConvStack(config)
        self.encoder_transformer = Transformer(config)
        self.downsample = StridedConv(config.hidden_size, config.hidden_size, 4, 2, bias=False)
        self.quantizer = EncoderSplitQuantizer(config)

    def latents(self, audio: Tensor) -> Tensor:
        """audio [B, S] -> [B, hidden, ceil(S / 1920)] before quantization."""
        x = self.encoder(audio[:, None])
        x = self.encoder_transformer(x.transpose(1, 2)).transpose(1, 2)
        y: Tensor = self.downsample(x, mode="replicate")
        return y

    @torch.inference_mode()
    def encode(self, audio: Tensor) -> Tensor:
        return self.quantize(self.latents(audio))

    def quantize(self, latents: Tensor) -> Tensor:
        """[B, hidden, T] to codes [B, groups, T]. Both quantizers read the same latents: neither is
        the residual of the other."""
        semantic = self.config.num_semantic_quantizers
        quantizer = self.quantizer
        return torch.cat(
            [
                quantizer.semantic_residual_vector_quantizer.encode(latents, semantic),
                quantizer.acoustic_residual_vector_quantizer.encode(
                    latents, self.groups - semantic
                ),
            ],
            dim=1,
        )
