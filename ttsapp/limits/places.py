"""What a tenant may have so many of at a time beside streams: open sockets, and speech whose text
is still being written word by word. Each holds memory, or a slot of the engine, while it waits."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings

from ttsapp import ids
from ttsapp.errors import ApiError
from ttsapp.limits.rules import STREAM_WAIT_MS, Ask, Limits, Store, Subject
from ttsapp.limits.stores import stores


@dataclass(frozen=True, slots=True)
class Kind:
    """`setting`: the name of what holds the most of them. `what`: for people."""

    name: str
    setting: str
    what: str


SOCKETS = Kind("sockets", "TENANT_SOCKETS", "open sockets")
LIVE = Kind("live_streams", "TENANT_LIVE_STREAMS", "texts spoken while they are written")


class Place:
    """Taken once; given back once, whatever happens: who holds it does so in a `finally`."""

    def __init__(self, kind: Kind) -> None:
        self._kind = kind
        self._held: tuple[Store, Ask] | None = None

    async def take(self, tenant_id: int) -> None:
        """Nothing more if it is held already. Raises ApiError 429."""
        if self._held is not None:
            return
        most: int = getattr(settings, self._kind.setting)
        subject = Subject(f"t{tenant_id}:{self._kind.name}", Limits(concurrent_streams=most))
        ask = Ask(str(ids.uuid7()), (subject,), 0)
        store, answer = await stores().admit(ask)
        if answer.refusal is not None:
            raise self._refusal(most)
        self._held = (store, ask)
        stores().hold(store, ask)

    async def leave(self) -> None:
        if self._held is not None:
            (store, ask), self._held = self._held, None
            await stores().release(store, ask, 0, 0)

    def _refusal(self, most: int) -> ApiError:
        return ApiError(
            429,
            f"too_many_{self._kind.name}",
            f"This account may have {most} {self._kind.what} at once. Wait until one ends.",
            retry_after_ms=STREAM_WAIT_MS,
            headers={"x-parlance-limit": f"account.{self._kind.name}"},
        )
