"""What the presets of the released and the shipped checkpoints sound like, and the languages."""

from __future__ import annotations

from gpu_engine.config import TalkerConfig, TtsConfig
from gpu_engine.proto import engine_pb2 as pb

# Native language and description of each voice: the released ones as their makers describe them,
# then those of the checkpoint that the package ships.
KNOWN = {
    "vivian": ("chinese", "Young woman, bright"),
    "serena": ("chinese", "Young woman, gentle"),
    "uncle_fu": ("chinese", "Older man, low"),
    "dylan": ("chinese", "Young man, Beijing dialect"),
    "eric": ("chinese", "Man, Sichuan dialect"),
    "ryan": ("english", "Man, rhythmic"),
    "aiden": ("english", "Man, American"),
    "ono_anna": ("japanese", "Woman"),
    "sohee": ("korean", "Woman"),
    "clara": ("english", "Woman, American, warm"),
    "june": ("english", "Woman, American, lively"),
    "ruth": ("english", "Woman, American, calm"),
    "helen": ("english", "Woman, British"),
    "martin": ("english", "Man, American, clear"),
    "oscar": ("english", "Man, American, deep"),
    "theo": ("english", "Man, American, young"),
    "walter": ("english", "Man, British"),
}


def presets(config: TtsConfig) -> list[pb.Preset]:
    """The checkpoint's own speakers, by name. A voice of a one-language model speaks that one."""
    spoken = languages(config.talker)
    only = spoken[0] if len(spoken) == 1 else ""
    return [
        pb.Preset(name=name, native_language=language, description=description)
        for name in sorted(config.talker.spk_id)
        for language, description in [KNOWN.get(name, (only, ""))]
    ]


def languages(config: TalkerConfig) -> list[str]:
    """Without dialects: those belong to voices and are not asked for by name."""
    return sorted(name for name in config.codec_language_id if not name.endswith("_dialect"))
