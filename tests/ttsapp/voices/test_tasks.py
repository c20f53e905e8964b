"""Which checkpoint a request goes to: by its voice, or by what its `task_type` says."""

from __future__ import annotations

import httpx
import pytest

from tests.ttsapp.conftest import Party, speech
from tests.ttsapp.scripted_engine import ScriptedEngine, base_model, pb
from tests.ttsapp.voices.conftest import design_model, made
from tests.ttsapp.voices.tasks import UNFIT, WARM


def ask(http: httpx.Client, party: Party, **fields: object) -> httpx.Response:
    return http.post("/v1/audio/speech", json=speech(**fields), headers=party.headers)


def refusal(answer: httpx.Response) -> tuple[int, str, str]:
    error = answer.json()["error"]
    return answer.status_code, error["param"], error["code"]


@pytest.mark.parametrize(
    ("fields", "model", "kind"),
    [
        ({"voice": "Anna", "task_type": "CustomVoice"}, "scripted-voices", "preset"),
        ({"voice": ..., "task_type": "VoiceDesign", "instructions": WARM}, "", "described"),
        ({"voice": "alloy", "task_type": "VoiceDesign", "instruct": WARM}, "", "described"),
        ({"voice": ..., "model": "scripted-design", "instructions": WARM}, "", "described"),
    ],
)
def test_it_works(
    http: httpx.Client,
    three: ScriptedEngine,
    alice: Party,
    fields: dict[str, object],
    model: str,
    kind: str,
) -> None:
    assert ask(http, alice, **fields).status_code == 200
    start = three.heard[-1].start
    assert (start.model, start.voice.WhichOneof("kind")) == (model or "scripted-design", kind)
    assert start.instructions == (WARM if kind == "described" else "")


@pytest.mark.parametrize("task", [..., "Base"])
def test_a_clone_goes_to_the_model_that_made_it(
    http: httpx.Client, three: ScriptedEngine, alice: Party, task: object
) -> None:
    voice = made(http, alice)
    assert ask(http, alice, voice=voice, task_type=task).status_code == 200
    assert three.heard[-1].start.model == "scripted-base"


@pytest.mark.parametrize(
    ("task", "kinds", "needed"),
    [
        ("VoiceDesign", [base_model()], "voice_design"),
        ("CustomVoice", [base_model(), design_model()], "custom_voice"),
        ("Base", [design_model()], "base"),
    ],
)
def test_a_kind_that_no_engine_holds_is_named(
    http: httpx.Client,
    engine: ScriptedEngine,
    alice: Party,
    task: str,
    kinds: list[pb.Model],
    needed: str,
) -> None:
    engine.models = kinds
    answer = ask(http, alice, voice="alloy", task_type=task, instructions=WARM)
    assert refusal(answer) == (400, "task_type", "task_not_served")
    assert answer.json()["error"]["message"].endswith(f"a checkpoint of kind {needed} is needed.")
    assert engine.heard == []


@pytest.mark.parametrize(("asked", "code", "param"), UNFIT)
def test_what_does_not_fit_is_named(
    http: httpx.Client,
    three: ScriptedEngine,
    alice: Party,
    asked: dict[str, object],
    code: str,
    param: str,
) -> None:
    assert refusal(ask(http, alice, **{"voice": ..., **asked})) == (400, param, code)
    assert three.heard == []


@pytest.mark.parametrize("task", ["CustomVoice", "VoiceDesign"])
def test_a_clone_is_no_preset_and_not_described(
    http: httpx.Client, three: ScriptedEngine, alice: Party, task: str
) -> None:
    voice = made(http, alice)
    answer = ask(http, alice, voice=voice, task_type=task, instructions=WARM)
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == ("voice" if task == "VoiceDesign" else "task_type")
