"""The least time of a step: what it must read over the rate of reading, or its arithmetic over the
rate of that, whichever is longer."""

from __future__ import annotations

from gpu_engine.bench.trials import Trial, World

# Seen on one H200: a device-to-device copy, and an 8192 x 8192 x 8192 product in bf16.
BYTES_PER_S, FLOPS_PER_S = 4.3e12, 790e12
CODEC_FLOPS, CODEC_BYTES = 4.96e9, 114.3e6  # a frame; parameters


def floor_ms(world: World, trial: Trial) -> float:
    """Milliseconds on an H200, for the weights' width that the variant has."""
    width = 1 if "fp8" in trial.variant else 2
    config = world.talker_config
    if trial.module == "kernel":
        return _kernel_floor(world, trial)
    if trial.module == "codec":
        exact = trial.variant in ("module", "fused-tf32")
        reading = CODEC_BYTES * (4 if exact else 2)
        flops = CODEC_FLOPS * trial.frames * trial.rows
        return _longer(reading, flops * (2 if exact else 1))
    if trial.module == "talker":
        body = _parameters(config.num_hidden_layers, config)
        head = config.vocab_size * config.hidden_size
        past = 2 * config.num_hidden_layers * config.num_key_value_heads * config.head_dim * 2
        reading = width * body + 2 * head + past * world.context * trial.rows
        return _longer(reading, 2.0 * (body + head) * trial.rows)
    predictor = config.code_predictor_config
    passes = config.num_code_groups - 1
    body = _parameters(predictor.num_hidden_layers, predictor)
    head = predictor.vocab_size * predictor.hidden_size
    return _longer(width * passes * (body + head), 2.0 * passes * (body + head) * trial.rows)


def _kernel_floor(world: World, trial: Trial) -> float:
    """Of a product; attention and draws read next to nothing."""
    part, _, name = trial.variant.partition(".")
    config = world.talker_config
    shape = config if part == "talker" else config.code_predictor_config
    wide = (shape.num_attention_heads + 2 * shape.num_key_value_heads) * shape.head_dim
    outputs = {
        "qkv": wide,
        "out": shape.num_attention_heads * shape.head_dim,
        "gate_up": 2 * shape.intermediate_size,
        "down": shape.intermediate_size,
    }
    numbers = shape.hidden_size * outputs.get(name, 0)
    return _longer(2.0 * numbers, 2.0 * numbers * trial.rows)


def _parameters(layers: int, shape: object) -> float:
    names = ("hidden_size", "intermediate_size", "num_attention_heads", "num_key_value_heads")
    hidden, inner, heads, kv_heads = (int(getattr(shape, name)) for name in names)
    dim = int(getattr(shape, "head_dim"))  # noqa: B009 - two kinds of config, one set of names
    return layers * hidden * ((2 * heads + 2 * kv_heads) * dim + 3 * inner)


def _longer(read: float, flops: float) -> float:
    return round(1000 * max(read / BYTES_PER_S, flops / FLOPS_PER_S), 4)
