"""ElevenLabs' dialect: voices, models, account, usage, history, tokens."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from django.utils import timezone
from websockets.sync.client import connect

from billing.models import UsageEvent
from tests.ttsapp.conftest import Party, eventually
from tests.ttsapp.seeded import use
from ttsapp.dialects.elevenlabs.account import UNLIMITED
from ttsapp.dialects.elevenlabs.voices import PREMADE
from ttsapp.tenants.models import Tenant

RACHEL, ADAM = "21m00Tcm4TlvDq8ikWAM", "pNInz6obpgDQGcFmaJgB"
PATHS = (
    *("/v1/voices", "/v2/voices", f"/v1/voices/{RACHEL}", f"/v1/voices/{RACHEL}/settings"),
    *("/v1/voices/settings/default", "/v1/user", "/v1/user/subscription", "/v1/history"),
    "/v1/usage/character-stats?start_unix=1&end_unix=2",
)


def xi(party: Party) -> dict[str, str]:
    return {"xi-api-key": party.secret}


def get(http: httpx.Client, party: Party, path: str, **query: object) -> httpx.Response:
    params = {name: str(value) for name, value in query.items()}
    return http.get(path, params=params or None, headers=xi(party))


def found(http: httpx.Client, party: Party, path: str, **query: object):
    answer = get(http, party, path, **query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def refused(answer: httpx.Response, status: int, code: str) -> dict:
    assert answer.status_code == status, answer.text
    assert answer.json()["detail"]["status"] == code
    return answer.json()["detail"]


def say(http: httpx.Client, party: Party, text: str, voice: str = RACHEL) -> str:
    answer = http.post(
        f"/v1/text-to-speech/{voice}?output_format=pcm_24000",
        json={"text": text},
        headers=xi(party),
    )
    assert answer.status_code == 200
    return answer.headers["history-item-id"]


@pytest.mark.parametrize("path", [*PATHS, "/elevenlabs/v1/models"])
def test_nobody_reads_without_a_key(http: httpx.Client, path: str) -> None:
    refused(http.get(path), 401, "invalid_api_key")


@pytest.mark.parametrize("path", PATHS)
def test_unknown_parameters_are_refused(http: httpx.Client, alice: Party, path: str) -> None:
    if "settings" in path or "/user" in path:
        return
    separator = "&" if "?" in path else "?"
    detail = refused(
        http.get(f"{path}{separator}colour=red", headers=xi(alice)), 400, "unknown_field"
    )
    assert detail["param"] == "colour"


# ---- voices


def test_voices_carry_id_name_and_category(http: httpx.Client, alice: Party) -> None:
    voices = found(http, alice, "/v1/voices")["voices"]
    assert [(one["voice_id"], one["name"], one["category"]) for one in voices] == [
        ("Anna", "Anna", "premade"),
        ("Ben", "Ben", "premade"),
    ]
    assert voices[0]["labels"] == {"gender": "female", "language": "en"}
    assert voices[0]["verified_languages"] == [
        {"language": "en", "model_id": "scripted-voices"},
        {"language": "de", "model_id": "scripted-voices"},
    ]


def test_premade_voices_are_told_to_those_who_ask(http: httpx.Client, alice: Party) -> None:
    voices = found(http, alice, "/v1/voices", show_legacy="true")["voices"]
    assert len(voices) == 2 + len(PREMADE)
    rachel = next(one for one in voices if one["voice_id"] == RACHEL)
    assert (rachel["name"], rachel["description"]) == (
        "Rachel",
        "Spoken by Anna. A calm female voice",
    )


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ({}, ["Anna", "Ben"]),
        ({"search": "rachel"}, ["Rachel"]),
        ({"search": "DEEP male", "page_size": 1}, ["Ben"]),
        ({"voice_ids": f"{RACHEL},{ADAM}"}, ["Rachel", "Adam"]),
        ({"gender": "female"}, ["Anna"]),
        ({"language": "fr"}, []),
        ({"age": "young"}, []),
        ({"voice_type": "personal"}, []),
        ({"category": "cloned"}, []),
        ({"sort": "name", "sort_direction": "desc"}, ["Ben", "Anna"]),
    ],
)
def test_search(http: httpx.Client, alice: Party, query: dict, names: list[str]) -> None:
    page = found(http, alice, "/v2/voices", **query)
    assert [one["name"] for one in page["voices"]] == names


def test_pages_of_voices(http: httpx.Client, alice: Party) -> None:
    first = found(http, alice, "/v2/voices", page_size=1)
    assert (first["has_more"], first["total_count"]) == (True, 2)
    token = first["next_page_token"]
    second = found(http, alice, "/v2/voices", page_size=1, next_page_token=token)
    assert [one["name"] for one in second["voices"]] == ["Ben"]
    assert (second["has_more"], second["next_page_token"]) == (False, None)


@pytest.mark.parametrize("name", ["page_size", "next_page_token"])
def test_a_page_that_is_none(http: httpx.Client, alice: Party, name: str) -> None:
    detail = refused(get(http, alice, "/v2/voices", **{name: "x"}), 400, "invalid_value")
    assert detail["param"] == name


@pytest.mark.parametrize("name", ["Anna", "anna", RACHEL, "Rachel"])
def test_a_voice(http: httpx.Client, alice: Party, name: str) -> None:
    voice = found(http, alice, f"/v1/voices/{name}", with_settings="true")
    assert voice["name"] in ("Anna", "Rachel")
    assert voice["settings"]["speed"] == 1.0
    assert found(http, alice, f"/v1/voices/{name}/settings")["stability"] == 0.5


@pytest.mark.parametrize("path", ["/v1/voices/nobody", "/v1/voices/nobody/settings"])
def test_a_voice_that_is_not_there(http: httpx.Client, alice: Party, path: str) -> None:
    refused(get(http, alice, path), 404, "voice_not_found")


def test_adding_a_voice_without_its_name(http: httpx.Client, alice: Party) -> None:
    """What the client's second attempt looks like."""
    files = {"files": ("me.wav", b"RIFF", "audio/wav")}
    answer = http.post("/v1/voices/add", data={"labels": "null"}, files=files, headers=xi(alice))
    assert answer.status_code == 422
    assert answer.json()["detail"] == [
        {
            "loc": ["body", "name"],
            "msg": "The field name is required: add it.",
            "type": "missing_field",
        }
    ]


def test_voices_cannot_be_added(http: httpx.Client, alice: Party) -> None:
    data, files = {"name": "me", "labels": "null"}, {"files": ("me.wav", b"RIFF", "audio/wav")}
    answer = http.post("/v1/voices/add", data=data, files=files, headers=xi(alice))
    refused(answer, 400, "voice_enrolment")


# ---- models


def test_models_are_an_array_when_xi_api_key_is_sent(http: httpx.Client, alice: Party) -> None:
    for path in ("/v1/models", "/elevenlabs/v1/models"):
        models = found(http, alice, path)
        assert [one["model_id"] for one in models] == [
            "scripted-voices",
            "eleven_multilingual_v2",
            "eleven_flash_v2_5",
            "eleven_turbo_v2_5",
        ]
        assert models[0]["languages"][0] == {"language_id": "en", "name": "English"}
    assert http.get("/v1/models", headers=alice.headers).json()["object"] == "list"


def test_models_with_a_wrong_key(http: httpx.Client) -> None:
    refused(http.get("/v1/models", headers={"xi-api-key": "nonsense"}), 401, "invalid_api_key")


# ---- the account


def test_user(http: httpx.Client, alice: Party, bob: Party) -> None:
    say(http, bob, "Bob's own words.")
    say(http, alice, "Hello.")
    user = found(http, alice, "/v1/user")
    assert (user["user_id"], user["first_name"]) == ("alice", "Alice")
    assert user["subscription"] == found(http, alice, "/v1/user/subscription")
    plan = user["subscription"]
    assert (plan["character_count"], plan["character_limit"]) == (6, UNLIMITED)
    assert datetime.fromtimestamp(plan["next_character_count_reset_unix"], UTC).day == 1


def test_a_budget_is_the_limit(http: httpx.Client, alice: Party) -> None:
    Tenant.objects.filter(pk=alice.tenant.pk).update(hard_monthly_characters=500)
    plan = eventually(
        lambda: (
            plan
            if (plan := found(http, alice, "/v1/user/subscription"))["character_limit"] == 500
            else None
        )
    )
    assert plan["character_count"] == 0


def test_a_used_up_budget(http: httpx.Client, alice: Party) -> None:
    Tenant.objects.filter(pk=alice.tenant.pk).update(hard_monthly_characters=3)
    body, path = {"text": "Hello."}, f"/v1/text-to-speech/{RACHEL}"
    answer = http.post(path, json=body, headers=xi(alice))
    refused(answer, 401, "quota_exceeded")
    assert not UsageEvent.objects.exists()


def test_how_many_streams_are_open(http: httpx.Client, alice: Party) -> None:
    Tenant.objects.filter(pk=alice.tenant.pk).update(concurrent_streams=4)
    body, path = {"text": "Hello."}, f"/v1/text-to-speech/{RACHEL}/stream"

    def limit() -> str:
        said = http.post(path, json=body, headers=xi(alice)).headers
        assert said["current-concurrent-requests"] == "1"
        return said["maximum-concurrent-requests"]

    eventually(lambda: limit() == "4")


# ---- usage


def ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


@pytest.fixture
def monday() -> datetime:
    now = timezone.now().astimezone(UTC)
    start = now.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=21)
    return start - timedelta(days=start.weekday())


def test_usage_by_day(http: httpx.Client, alice: Party, bob: Party, monday: datetime) -> None:
    use(alice.tenant, alice.key, monday + timedelta(hours=3))
    use(alice.tenant, alice.key, monday + timedelta(days=2, hours=5))
    use(bob.tenant, bob.key, monday + timedelta(hours=4))
    each = UsageEvent.objects.filter(tenant=alice.tenant).values_list(
        "billed_characters", flat=True
    )
    spoken = float(each[0])
    days = [monday + timedelta(days=day) for day in range(3)]
    query = {"start_unix": ms(monday), "end_unix": ms(monday + timedelta(days=3)) - 1}
    stats = found(http, alice, "/v1/usage/character-stats", **query)
    assert stats == {
        "time": [ms(day) for day in days],
        "usage": {"All": [spoken, 0.0, spoken]},
    }
    count = found(http, alice, "/v1/usage/character-stats", metric="request_count", **query)
    assert count["usage"] == {"All": [1.0, 0.0, 1.0]}


@pytest.mark.parametrize(
    ("interval", "points"), [("hour", 48), ("week", 1), ("month", None), ("cumulative", 1)]
)
def test_intervals(
    http: httpx.Client, alice: Party, monday: datetime, interval: str, points: int | None
) -> None:
    use(alice.tenant, alice.key, monday + timedelta(hours=30))
    stats = found(
        http,
        alice,
        "/v1/usage/character-stats",
        start_unix=ms(monday),
        end_unix=ms(monday + timedelta(days=2)),
        aggregation_interval=interval,
        metric="request_count",
    )
    assert len(stats["time"]) == len(stats["usage"]["All"])
    assert len(stats["time"]) == (points or len(stats["time"]))
    assert sum(stats["usage"]["All"]) == 1.0


@pytest.mark.parametrize("breakdown", ["voice", "model", "api_keys"])
def test_breakdowns(http: httpx.Client, alice: Party, monday: datetime, breakdown: str) -> None:
    use(alice.tenant, alice.key, monday)
    event = UsageEvent.objects.get()
    name = {"voice": event.voice, "model": event.model, "api_keys": "alice's key"}[breakdown]
    query = {"start_unix": ms(monday), "end_unix": ms(monday) + 1, "breakdown_type": breakdown}
    stats = found(http, alice, "/v1/usage/character-stats", metric="request_count", **query)
    assert stats["usage"] == {name: [1.0]}
    assert found(http, alice, "/v1/usage/character-stats", start_unix=1, end_unix=2)["usage"] == {
        "All": [0.0]
    }


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ({"end_unix": 5}, "start_unix"),
        ({"start_unix": 5}, "end_unix"),
        ({"start_unix": 5, "end_unix": 5}, "end_unix"),
        ({"start_unix": "x", "end_unix": 5}, "start_unix"),
        ({"start_unix": 1, "end_unix": 10**13, "aggregation_interval": "hour"}, "aggregation_"),
        ({"start_unix": 1, "end_unix": 5, "metric": "ttfb_avg"}, "metric"),
        ({"start_unix": 1, "end_unix": 5, "breakdown_type": "user"}, "breakdown_type"),
    ],
)
def test_bad_usage(http: httpx.Client, alice: Party, query: dict, param: str) -> None:
    answer = get(http, alice, "/v1/usage/character-stats", **query)
    assert answer.status_code == 400
    assert answer.json()["detail"]["param"].startswith(param)


# ---- history


def test_history(http: httpx.Client, alice: Party, bob: Party, mallory: Party) -> None:
    ids = [say(http, alice, text) for text in ("One.", "Three.")]
    his = say(http, bob, "Bob.", ADAM)
    page = found(http, alice, "/v1/history")
    assert [one["history_item_id"] for one in page["history"]] == ids[::-1]
    assert (page["has_more"], page["last_history_item_id"]) == (False, ids[0])
    item = found(http, alice, f"/v1/history/{ids[1]}")
    assert item == page["history"][0]
    assert (item["character_count_change_to"], item["voice_id"], item["text"]) == (6, "Anna", None)
    assert found(http, mallory, "/v1/history")["history"] == []
    refused(get(http, mallory, f"/v1/history/{his}"), 404, "history_item_not_found")
    refused(get(http, alice, "/v1/history/nonsense"), 404, "history_item_not_found")


def test_pages_of_history(http: httpx.Client, alice: Party) -> None:
    first, second = say(http, alice, "One."), say(http, alice, "Two.", ADAM)
    page = found(http, alice, "/v1/history", page_size=1)
    assert (page["has_more"], page["last_history_item_id"]) == (True, second)
    rest = found(http, alice, "/v1/history", start_after_history_item_id=second)
    assert [one["history_item_id"] for one in rest["history"]] == [first]
    for query, wanted in (
        ({"voice_id": RACHEL}, [first]),
        ({"sort_direction": "asc"}, [first, second]),
        ({"model_id": "eleven_v3"}, [second, first]),
        ({"date_after_unix": int(timezone.now().timestamp()) + 60}, []),
        ({"date_before_unix": int(timezone.now().timestamp()) - 60}, []),
        ({"source": "STS"}, []),
    ):
        rows = found(http, alice, "/v1/history", **query)["history"]
        assert [one["history_item_id"] for one in rows] == wanted


def test_texts_cannot_be_searched(http: httpx.Client, alice: Party) -> None:
    refused(get(http, alice, "/v1/history", search="hello"), 400, "invalid_value")


def test_audio_is_not_kept(http: httpx.Client, alice: Party, mallory: Party) -> None:
    item = say(http, alice, "One.")
    refused(get(http, alice, f"/v1/history/{item}/audio"), 404, "audio_not_kept")
    refused(get(http, mallory, f"/v1/history/{item}/audio"), 404, "history_item_not_found")
    answer = http.post("/v1/history/download", json={}, headers=xi(alice))
    refused(answer, 404, "audio_not_kept")


# ---- tokens


def test_single_use_token(http: httpx.Client, base: str, alice: Party) -> None:
    answer = http.post("/v1/single-use-token/tts_websocket", headers=xi(alice))
    token = answer.json()["token"]
    url = f"{base.replace('http:', 'ws:')}/v1/text-to-speech/Anna/stream-input"
    with connect(f"{url}?single_use_token={token}") as socket:
        socket.send(json.dumps({"text": ""}))
        assert json.loads(socket.recv(10))["isFinal"] is True


def test_tokens_make_no_tokens(http: httpx.Client, alice: Party) -> None:
    path = "/v1/single-use-token/tts_websocket"
    token = http.post(path, headers=xi(alice)).json()["token"]
    refused(http.post(path, headers={"xi-api-key": token}), 401, "invalid_api_key")


def test_a_token_for_something_else(http: httpx.Client, alice: Party) -> None:
    answer = http.post("/v1/single-use-token/realtime_scribe", headers=xi(alice))
    refused(answer, 404, "unknown_url")
