"""The log and the events of the last weeks, row by row as requests leave them, made in SQL."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from ttsapp.console.bench.sums import unchecked
from ttsapp.tenants.models import Tenant

DAYS = 28
EACH, BUSY = 100, 50_000

# One row a request: ids are UUIDv7 of their moment; of twenty 17 end well.
_MADE = """CREATE TEMPORARY TABLE made AS
  SELECT at, tenant_id, key_id, n %% 20 AS kind, 40 + n %% 300 AS characters,
    (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7'
      || substr(md5(n || 'a' || tenant_id), 1, 3) || '8'
      || substr(md5(n || 'b' || tenant_id), 1, 15))::uuid AS id
  FROM (
    SELECT key.tenant_id, key.id AS key_id, n,
      %(now)s - random() * %(days)s * interval '1 day' AS at
    FROM keys_apikey key CROSS JOIN LATERAL generate_series(
      1, CASE WHEN key.tenant_id = %(busy)s THEN %(many)s ELSE %(each)s END) n) one"""
_EVENTS = """INSERT INTO billing_usageevent (id, tenant_id, key_id, model, voice, started_at,
    settled_at, outcome, characters, billed_characters, audio_ms, frames, text_tokens, talker_ms,
    predictor_ms, codec_ms, first_audio_ms, underruns, finish_reason, engine, voice_kind,
    top_up_characters)
  SELECT id, tenant_id, key_id, 'parlance-tiny', 'voice-' || 1 + kind %% 4, at, at,
    CASE WHEN kind = 19 THEN 'failed' ELSE 'completed' END, characters,
    CASE WHEN kind = 19 THEN 0 ELSE characters END, 65 * characters, characters, characters / 3,
    60, 110, 30, 90 + characters, 0, 'stop', 'engine-1', 'preset', 0
  FROM made WHERE kind <> 18"""
_LOG = """INSERT INTO speech_requestlog (id, tenant_id, key_id, at, transport, status, model, voice,
    response_format, seed, characters, audio_ms, first_audio_ms, total_ms, finish_reason,
    error_code, error_field)
  SELECT id, tenant_id, key_id, at, 'http',
    CASE kind WHEN 18 THEN 400 WHEN 19 THEN 503 ELSE 200 END, 'parlance-tiny',
    'voice-' || 1 + kind %% 4, 'mp3', 42, characters, 65 * characters, 90 + characters,
    20 * characters, CASE WHEN kind >= 18 THEN '' ELSE 'stop' END,
    CASE kind WHEN 18 THEN 'unknown_voice' WHEN 19 THEN 'engine_unavailable' ELSE '' END,
    CASE kind WHEN 18 THEN 'voice' ELSE '' END
  FROM made"""


def fill(busy: Tenant, now: datetime) -> None:
    """`busy` has as many as a list is ever paged through, the others some."""
    values: dict[str, Any] = {
        "now": now,
        "days": DAYS,
        "busy": busy.pk,
        "many": BUSY,
        "each": EACH,
    }
    with unchecked() as cursor:
        for statement in (_MADE, _EVENTS, _LOG):
            cursor.execute(statement, values)
        cursor.execute("DROP TABLE made")
