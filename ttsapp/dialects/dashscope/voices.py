"""Hosted Qwen TTS's own voices, by kind: who names one is given a voice of ours of that kind."""

from __future__ import annotations

FEMALE = (
    *("bella", "bellona", "bunny", "chelsie", "cherry", "ebona", "elias", "jada", "jennifer"),
    *("katerina", "kiki", "maia", "mia", "momo", "nini", "ono anna", "seren", "serena"),
    *("sohee", "sonrisa", "stella", "sunny", "vivian"),
    # CosyVoice's.
    *("longanhuan", "longhua", "longjing", "longmiao", "longtong", "longwan", "longxiaobai"),
    *("longxiaochun", "longxiaoxia", "longyuan", "longyue", "loongbella", "loongstella"),
)
MALE = (
    *("aiden", "alek", "andre", "arthur", "bodega", "dolce", "dylan", "eldric sage", "emilien"),
    *("eric", "ethan", "kai", "lenn", "li", "marcus", "mochi", "moon", "neil", "nofish"),
    *("peter", "pip", "radio gol", "rocky", "roy", "ryan", "vincent"),
    *("longanyang", "longcheng", "longfei", "longjielidou", "longlaotie", "longshu", "longshuo"),
    *("longxiang", "longxiaocheng"),
)
DEFAULT = "Cherry"
