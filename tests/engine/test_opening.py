"""What a client can get wrong, one refusal a test: each names its field."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gpu_engine.errors import InvalidRequest
from gpu_engine.messages import Submit
from gpu_engine.models.checkpoint import Checkpoint
from gpu_engine.proto import engine_pb2 as pb
from gpu_engine.scheduler import RAMPS
from gpu_engine.server.opening import Desk
from tests.engine.bench import desk, start
from tests.engine.conftest import BASE, CUSTOM, DESIGN

Checkpoints = Callable[[str], Checkpoint]


def submitted(front: Desk, opening: pb.Start) -> Submit:
    front.check(opening)
    return front.submit(1, opening, opening.text, done=True)


def refusal(checkpoint: Checkpoint, opening: pb.Start) -> tuple[str, str]:
    """The field and the message with which a Start is refused."""
    with pytest.raises(InvalidRequest) as caught:
        submitted(desk(checkpoint), opening)
    assert (caught.value.code, caught.value.retryable) == ("invalid_request", False)
    return caught.value.field, caught.value.message


def test_it_works(checkpoint: Checkpoints) -> None:
    opening = start(profile=pb.CHUNK_PROFILE_THROUGHPUT, priority=pb.PRIORITY_BACKGROUND)
    front = desk(checkpoint(CUSTOM))
    submit = submitted(front, opening)
    assert (submit.prompt.text_tokens, submit.seed, submit.frame_cap) == (10, 1, 24)
    assert (submit.ramp, submit.paced, submit.background) == (RAMPS["throughput"], False, True)
    assert submit.sampling.temperature == pytest.approx(0.9)


def test_two_requests_without_a_seed_get_different_ones(checkpoint: Checkpoints) -> None:
    opening = start()
    opening.ClearField("seed")
    front = desk(checkpoint(CUSTOM))
    seeds = {front.submit(n, opening, opening.text, done=True).seed for n in (1, 2)}
    assert len(seeds) == 2


def test_the_frame_cap_is_scaled_to_the_text(checkpoint: Checkpoints) -> None:
    front = desk(checkpoint(CUSTOM))
    submit = front.submit(1, start("x" * 100, max_frames=0), "x" * 100, done=True)
    assert submit.frame_cap == 275


UNSPEAKABLE = "the text has nothing that can be spoken"


@pytest.mark.parametrize(("told", "share"), [(0.0, 1.0), (3.0, 3.0)])
def test_a_share_that_is_not_told_is_one(
    checkpoint: Checkpoints, told: float, share: float
) -> None:
    assert submitted(desk(checkpoint(CUSTOM)), start(share=told)).share == share


BAD_STARTS: dict[str, tuple[dict[str, Any], str, str]] = {
    "empty text": ({"text": ""}, "text", UNSPEAKABLE),
    "blank text": ({"text": " \n\t "}, "text", UNSPEAKABLE),
    "emoji alone": ({"text": "😀👍🏽❤️"}, "text", UNSPEAKABLE),
    "punctuation alone": ({"text": "?!…"}, "text", UNSPEAKABLE),
    "too many characters": ({"text": "a " * 50_000}, "text", "longer than 2048 characters"),
    "too many tokens": ({"text": "1 " * 129}, "text", "258 tokens, at most 128 are taken"),
    "unknown model": ({"model": "gpt"}, "model", "unknown model 'gpt'"),
    "unknown preset": (
        {"voice": pb.Voice(preset="mallory")},
        "voice",
        "unknown speaker 'mallory'",
    ),
    "no voice": ({"voice": pb.Voice()}, "voice", "no voice is given"),
    "a clone of a preset model": (
        {"voice": pb.Voice(embedding=pb.SpeakerEmbedding(values=[0.0] * 64))},
        "voice",
        "a clone needs a base model, and tiny is custom_voice",
    ),
    "a description of a preset model": (
        {"voice": pb.Voice(described=True)},
        "voice",
        "a described voice needs a voice_design model, and tiny is custom_voice",
    ),
    "unknown language": ({"language": "klingon"}, "language", "unknown language 'klingon'"),
    "temperature": (
        {"sampling": pb.Sampling(temperature=2.5)},
        "sampling.temperature",
        "temperature must lie between 0.0 and 2.0",
    ),
    "temperature that is no number": (
        {"sampling": pb.Sampling(temperature=float("nan"))},
        "sampling.temperature",
        "temperature must lie between 0.0 and 2.0",
    ),
    "top_k": (
        {"sampling": pb.Sampling(top_k=4000)},
        "sampling.top_k",
        "top_k must lie between 0 and 3072",
    ),
    "top_p": (
        {"sampling": pb.Sampling(top_p=0.0)},
        "sampling.top_p",
        "top_p must lie between 0.001 and 1.0",
    ),
    "repetition_penalty": (
        {"sampling": pb.Sampling(repetition_penalty=0.1)},
        "sampling.repetition_penalty",
        "repetition_penalty must lie between 0.5 and 2.0",
    ),
    "max_frames": ({"max_frames": 513}, "max_frames", "more than 512 frames"),
    "share": ({"share": -1.0}, "share", "no share from 0 to 1000"),
    "share that is no number": ({"share": float("nan")}, "share", "no share from 0 to 1000"),
    "layout": ({"layout": 9}, "layout", "unknown text layout"),
    "profile": ({"profile": 9}, "profile", "unknown chunk profile"),
    "priority": ({"priority": 9}, "priority", "unknown priority"),
    "instructions": (
        {"instructions": "slow " * 1000},
        "instructions",
        "longer than 2048 characters",
    ),
    "instructions in tokens": (
        {"instructions": "1 " * 100},
        "instructions",
        "214 tokens, at most 128 are taken",
    ),
    "request id": ({"request_id": "x" * 300}, "request_id", "longer than 256 characters"),
}


@pytest.mark.parametrize("case", BAD_STARTS)
def test_a_bad_start_is_refused_by_field(checkpoint: Checkpoints, case: str) -> None:
    wrong, field, message = BAD_STARTS[case]
    assert refusal(checkpoint(CUSTOM), start(**wrong)) == (field, message)


VECTOR = [0.1] * 64
FRAME = b"\1\0" * 16


def reference(codes: bytes = FRAME, text: str = "Hello.", values: Any = VECTOR) -> pb.Voice:
    embedding = pb.SpeakerEmbedding(values=values)
    return pb.Voice(reference=pb.Reference(embedding=embedding, codes=codes, text=text))


BAD_CLONES: dict[str, tuple[pb.Voice, str]] = {
    "preset": (pb.Voice(preset="ryan"), "a preset needs a custom_voice model, and tiny is base"),
    "short vector": (
        pb.Voice(embedding=pb.SpeakerEmbedding(values=[0.1] * 63)),
        "a speaker embedding has 64 values, not 63",
    ),
    "vector not finite": (
        pb.Voice(embedding=pb.SpeakerEmbedding(values=[float("inf")] * 64)),
        "a speaker embedding has values from -1e+12 to 1e+12",
    ),
    "no codes": (reference(codes=b""), "reference codes are uint16 [frames, 16]"),
    "torn codes": (reference(codes=FRAME[:-1]), "reference codes are uint16 [frames, 16]"),
    "codes out of range": (reference(codes=b"\xff\xff" * 16), "reference codes are below 2048"),
    "long reference": (reference(codes=FRAME * 751), "the reference is longer than a minute"),
    "no transcript": (reference(text=" "), "the reference has no transcript"),
    "reference beyond the positions": (
        reference(codes=FRAME * 600),
        "the text and its voice are too long together",
    ),
}


@pytest.mark.parametrize("case", BAD_CLONES)
def test_a_bad_clone_is_refused(checkpoint: Checkpoints, case: str) -> None:
    voice, message = BAD_CLONES[case]
    field = "text" if case == "reference beyond the positions" else "voice"
    assert refusal(checkpoint(BASE), start(voice=voice)) == (field, message)


def test_a_sound_reference_is_taken(checkpoint: Checkpoints) -> None:
    front = desk(checkpoint(BASE))
    opening = start(voice=reference(codes=FRAME * 4))
    submit = submitted(front, opening)
    assert (submit.prompt.reference_frames, len(submit.embedding)) == (4, 256)
    assert front.streams_text(opening) is False


def test_a_clone_model_takes_no_instructions(checkpoint: Checkpoints) -> None:
    voice = pb.Voice(embedding=pb.SpeakerEmbedding(values=VECTOR))
    opening = start(voice=voice, instructions="Slowly.")
    assert refusal(checkpoint(BASE), opening)[0] == "instructions"


def test_a_design_model_takes_no_preset(checkpoint: Checkpoints) -> None:
    assert refusal(checkpoint(DESIGN), start())[0] == "voice"
