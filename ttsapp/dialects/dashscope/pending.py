"""Text on the realtime socket that no response has yet."""

from __future__ import annotations

from collections import deque

from django.conf import settings

from ttsapp.dialects.dashscope import events
from ttsapp.errors import invalid
from ttsapp.speech.order import is_speakable
from ttsapp.speech.text.segments import Segmenter


class Pending:
    """`text` can still be cleared; `committed` are texts for a response each, with their items."""

    def __init__(self) -> None:
        self.text = ""
        self.committed: deque[tuple[str, str]] = deque()

    def __bool__(self) -> bool:
        return bool(self.text or self.committed)

    def add(self, text: str) -> None:
        """Raises ApiError 400 for too much of it."""
        waiting = len(self.text) + sum(len(each) for _, each in self.committed)
        if waiting + len(text) > settings.MAX_INPUT_CHARACTERS:
            message = f"At most {settings.MAX_INPUT_CHARACTERS} characters may wait to be spoken."
            raise invalid(message, "text", "string_above_max_length")
        self.text += text

    def sentences(self, language: str) -> deque[str]:
        """Takes out those that are whole, in parts of a size to be spoken."""
        segmenter = Segmenter(settings.SEGMENT_CHARACTERS, language)
        parts = deque(segmenter.push(self.text))
        self.text = segmenter.held
        return parts

    def put_back(self, parts: deque[str]) -> None:
        self.text = "".join(parts) + self.text

    def commit(self) -> str | None:
        """The item that the text is now; None where there is nothing to say in it."""
        text, self.text = self.text, ""
        if not is_speakable(text):
            return None
        item_id = events.new_item()
        self.committed.append((item_id, text))
        return item_id
