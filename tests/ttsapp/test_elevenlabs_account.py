"""ElevenLabs' dialect: account, history, tokens; nothing without a key."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from django.conf import settings
from django.utils import timezone
from websockets.sync.client import connect

from billing.models import UsageEvent
from tests.ttsapp.conftest import Party, eventually
from tests.ttsapp.elevenlabs_calls import (
    ADAM,
    RACHEL,
    found,
    get,
    refused,
    spoke,
    xi,
)
from tests.ttsapp.scripted_engine import spoken
from ttsapp.audit.models import AuditEntry
from ttsapp.audit.services import SYSTEM
from ttsapp.dialects.elevenlabs.account import UNLIMITED
from ttsapp.keys.services import create_key
from ttsapp.speech.models import RequestLog
from ttsapp.tenants.models import Tenant

PATHS = (
    *("/v1/voices", "/v2/voices", f"/v1/voices/{RACHEL}", f"/v1/voices/{RACHEL}/settings"),
    *("/v1/voices/settings/default", "/v1/user", "/v1/user/subscription", "/v1/history"),
    "/v1/usage/character-stats?start_unix=1&end_unix=2",
)


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


def test_user(http: httpx.Client, alice: Party, bob: Party) -> None:
    spoke(http, bob, "Bob's own words.")
    spoke(http, alice, "Hello.")
    user = found(http, alice, "/v1/user")
    assert (user["user_id"], user["first_name"]) == ("alice", "Alice")
    assert user["subscription"] == found(http, alice, "/v1/user/subscription")
    plan = user["subscription"]
    assert (plan["character_count"], plan["character_limit"]) == (6, UNLIMITED)
    assert (plan["voice_slots_used"], plan["voice_limit"]) == (0, 500)
    assert plan["can_use_instant_voice_cloning"] is False
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


def test_history(http: httpx.Client, alice: Party, bob: Party, mallory: Party) -> None:
    ids = [spoke(http, alice, text) for text in ("One.", "Three.")]
    his = spoke(http, bob, "Bob.", ADAM)
    page = found(http, alice, "/v1/history")
    assert [one["history_item_id"] for one in page["history"]] == ids[::-1]
    assert (page["has_more"], page["last_history_item_id"]) == (False, ids[0])
    item = found(http, alice, f"/v1/history/{ids[1]}")
    assert item == page["history"][0]
    assert (item["character_count_change_to"], item["voice_id"], item["text"]) == (6, "Anna", None)
    assert found(http, mallory, "/v1/history")["history"] == []
    refused(get(http, mallory, f"/v1/history/{his}"), 404, "history_item_not_found")
    refused(get(http, alice, "/v1/history/nonsense"), 404, "history_item_not_found")


@pytest.mark.parametrize(
    ("name", "content_type"),
    [("vtt", "text/vtt"), ("srt", "application/x-subrip"), ("once", None)],
)
def test_history_holds_what_was_asked_for_elsewhere(
    http: httpx.Client, alice: Party, name: str, content_type: str | None
) -> None:
    item = spoke(http, alice, "One.")
    RequestLog.objects.filter(pk=item).update(response_format=name)
    [line] = found(http, alice, "/v1/history")["history"]
    assert (line["history_item_id"], line["content_type"]) == (item, content_type)


def test_pages_of_history(http: httpx.Client, alice: Party) -> None:
    first, second = spoke(http, alice, "One."), spoke(http, alice, "Two.", ADAM)
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
    item = spoke(http, alice, "One.")
    refused(get(http, alice, f"/v1/history/{item}/audio"), 404, "audio_not_kept")
    refused(get(http, mallory, f"/v1/history/{item}/audio"), 404, "history_item_not_found")
    answer = http.post("/v1/history/download", json={}, headers=xi(alice))
    refused(answer, 404, "audio_not_kept")


def test_audio_that_is_kept(
    http: httpx.Client,
    alice: Party,
    mallory: Party,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By the key that spoke it alone, and on record."""
    monkeypatch.setattr(settings, "DATA", tmp_path)
    Tenant.objects.filter(pk=alice.tenant.pk).update(audio_hours=1)
    item = spoke(http, alice, "One.")
    path = f"/v1/history/{item}/audio"
    eventually(lambda: http.get(path, headers=xi(alice)).status_code == 200)
    answer = http.get(path, headers=xi(alice))
    assert (answer.headers["content-type"], answer.content[44:]) == ("audio/wav", spoken(5))
    assert AuditEntry.objects.filter(action="request.heard", target=item).count() == 2
    refused(get(http, mallory, path), 404, "history_item_not_found")
    _, secret = create_key(SYSTEM, alice.tenant, "another")
    refused(get(http, replace(alice, secret=secret), path), 404, "audio_not_kept")


def test_a_line_of_the_log_is_kept(http: httpx.Client, alice: Party, mallory: Party) -> None:
    item = spoke(http, alice, "One.")
    path = f"/v1/history/{item}"
    refused(http.delete(path, headers=xi(alice)), 409, "log_is_kept")
    refused(http.delete(path, headers=xi(mallory)), 404, "history_item_not_found")
    assert get(http, alice, path).status_code == 200


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
