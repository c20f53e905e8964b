"""Work on requests that nobody waits for."""

from __future__ import annotations

from ttsapp.celery import app
from ttsapp.speech import kept, texts


@app.task(name="speech.remove_expired")  # type: ignore[untyped-decorator]
def remove_expired() -> int:
    """Audio and texts whose time is over. Twice, or on several machines at once, does no harm."""
    return texts.remove_expired() + sum(kept.remove_expired(shelf) for shelf in kept.SHELVES)
