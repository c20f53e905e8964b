"""Whether an order's voice may still be spoken with: its consent may end, or the voice be deleted,
while text still comes."""

from __future__ import annotations

from ttsapp.errors import ApiError
from ttsapp.keys.authentication import Caller
from ttsapp.speech.order import Order


class Permission:
    """As of the last look. What is being spoken needs none: every part that comes later does."""

    def __init__(self, order: Order) -> None:
        self.refusal: ApiError | None = None
        self._order = order

    async def look(self, caller: Caller) -> None:
        """As the caller's voices are now."""
        try:
            await self._order.check_voice(caller)
        except ApiError as error:
            # Nobody's speech ends because a database is away.
            if error.status < 500:
                self.refusal = error
        else:
            self.refusal = None

    async def ask(self) -> None:
        """Before a part begins: what the engine is sent is there then. Raises ApiError."""
        if self.refusal is not None:
            raise self.refusal
        await self._order.make_ready(is_again=True)
