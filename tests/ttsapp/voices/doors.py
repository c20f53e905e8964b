"""Every way in for a recording: each API's own call, and the console's form."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from html import unescape
from typing import Any

import httpx

from tests.ttsapp.browser import browser
from tests.ttsapp.conftest import Party

Answer = tuple[int, str, str]
_PROBLEM = re.compile(r'<input type="file" name="recording"[^>]*><span class="problem"[^>]*>(.*?)<')


@dataclass(frozen=True)
class Sent:
    """What somebody sends: a recording, or an address of one."""

    http: httpx.Client
    party: Party
    consent: str
    content: bytes = b""
    address: str = ""
    text: str = ""
    name: str = "Ann"
    file_name: str = "ann.wav"

    @property
    def url(self) -> str:
        encoded = base64.b64encode(self.content).decode()
        return self.address or f"data:audio/wav;base64,{encoded}"

    def post(self, path: str, **given: Any) -> httpx.Response:
        return self.http.post(path, headers=self.party.headers, **given)


@dataclass(frozen=True)
class Door:
    """`send` answers with status, code and message; `text` is what it calls the words."""

    recording: str
    send: Callable[[Sent], Answer]
    text: str = ""
    codes: bool = field(default=True)


def openai_file(sent: Sent) -> Answer:
    data = {"name": sent.name, "consent": sent.consent, "ref_text": sent.text}
    files = {"audio_sample": (sent.file_name, sent.content)}
    return _openai(sent.post("/v1/audio/voices", data=data, files=files))


def openai_address(sent: Sent) -> Answer:
    body = {"name": sent.name, "consent": sent.consent, "ref_audio": sent.url}
    if sent.text:
        body["ref_text"] = sent.text
    return _openai(sent.post("/v1/audio/voices", json=body))


def elevenlabs(sent: Sent) -> Answer:
    data = {"name": sent.name, "labels": json.dumps({"consent": sent.consent})}
    files = {"files": (sent.file_name, sent.content)}
    answer = sent.post("/v1/voices/add", data=data, files=files)
    if answer.is_success:
        return answer.status_code, "", ""
    detail = answer.json()["detail"]
    assert detail.get("param", "") in detail["message"], detail
    return answer.status_code, detail["status"], detail["message"]


def cartesia(sent: Sent) -> Answer:
    data = {"name": sent.name, "consent": sent.consent, "transcript": sent.text}
    answer = sent.post("/voices/clone", data=data, files={"clip": (sent.file_name, sent.content)})
    if answer.is_success:
        return answer.status_code, "", ""
    error = answer.json()
    return answer.status_code, error["error_code"], error["message"]


def qwen(sent: Sent) -> Answer:
    given = {"action": "create", "preferred_name": "ann", "audio": {"data": sent.url}}
    return _dashscope(sent, "qwen-voice-enrollment", given)


def cosyvoice(sent: Sent) -> Answer:
    given = {"action": "create_voice", "prefix": "ann", "url": sent.url}
    return _dashscope(sent, "voice-enrollment", given)


def console(sent: Sent) -> Answer:
    data = {"name": sent.name, "language": "auto", "speed": "1", "text": sent.text}
    with browser(str(sent.http.base_url).rstrip("/"), sent.party.user.username) as page:
        answer = page.post(
            f"/console/{sent.party.tenant.slug}/voices/clone",
            data={**data, "consent": sent.consent},
            files={"recording": (sent.file_name, sent.content)},
        )
    if answer.status_code == 302:
        return 200, "", ""
    found = _PROBLEM.search(answer.text) or re.search(r'class="problem"[^>]*>(.*?)<', answer.text)
    return answer.status_code, "", unescape(found[1]) if found else ""


def _openai(answer: httpx.Response) -> Answer:
    if answer.is_success:
        return answer.status_code, "", ""
    error = answer.json()["error"]
    assert (error["param"] or "") in error["message"], error
    return answer.status_code, error["code"], error["message"]


def _dashscope(sent: Sent, model: str, given: dict[str, Any]) -> Answer:
    given = {**given, "consent": sent.consent} | ({"text": sent.text} if sent.text else {})
    path = "/api/v1/services/audio/tts/customization"
    answer = sent.post(path, json={"model": model, "input": given})
    if answer.is_success:
        return answer.status_code, "", ""
    error = answer.json()
    exact = error["code"].rpartition(".")[2]
    code = re.sub(r"(?<!^)(?=[A-Z])", "_", exact).lower()
    return answer.status_code, code, error["message"]


DOORS = {
    "openai": Door("audio_sample", openai_file, "ref_text"),
    "openai, by address": Door("ref_audio", openai_address, "ref_text"),
    "elevenlabs": Door("files", elevenlabs),
    "cartesia": Door("clip", cartesia, "transcript"),
    "dashscope": Door("input.audio.data", qwen, "input.text"),
    "dashscope, other family": Door("input.url", cosyvoice, "input.text"),
    "console": Door("recording", console, "text", codes=False),
}
BY_ADDRESS = ("openai, by address", "dashscope", "dashscope, other family")
