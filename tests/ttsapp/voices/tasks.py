"""What does not fit together where a `task_type` is asked for, over HTTP and on the socket."""

from __future__ import annotations

WARM = "A warm, low voice."
UNFIT: list[tuple[dict[str, object], str, str]] = [
    ({"voice": "Anna", "task_type": "Singing"}, "invalid_value", "task_type"),
    ({"voice": "Anna", "task_type": 3}, "invalid_type", "task_type"),
    ({"voice": "Anna", "task_type": "Base"}, "invalid_value", "task_type"),
    ({"task_type": "CustomVoice"}, "missing_field", "voice"),
    ({"task_type": "VoiceDesign"}, "missing_field", "instructions"),
    (
        {"voice": "Anna", "task_type": "VoiceDesign", "instructions": WARM},
        "invalid_value",
        "voice",
    ),
    (
        {"model": "scripted-voices", "task_type": "VoiceDesign", "instructions": WARM},
        "wrong_model",
        "model",
    ),
    (
        {"model": "scripted-base", "voice": "Anna", "task_type": "CustomVoice"},
        "wrong_model",
        "model",
    ),
    ({"model": "scripted-design"}, "missing_field", "instructions"),
]
"""What is asked, and the code and the field of its refusal."""
