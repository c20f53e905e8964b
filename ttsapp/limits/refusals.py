"""A refusal as an error: which limit, whose, and when to come back."""

from __future__ import annotations

from ttsapp.errors import ApiError, invalid
from ttsapp.limits import headers
from ttsapp.limits.rules import Answer, Ask, Limit, Refusal

_CODES = {
    Limit.REQUESTS: "rate_limit_exceeded",
    Limit.CHARACTERS: "rate_limit_exceeded",
    Limit.STREAMS: "concurrent_limit_exceeded",
    Limit.BUDGET: "insufficient_quota",
    Limit.CREDIT: "insufficient_quota",
}
# A budget comes back with the month, and credit never: no client should try again by itself.
_LASTING = (Limit.BUDGET, Limit.CREDIT)
_WHOSE = ("account", "key")


def name(limit: Limit, subject: int) -> str:
    """For headers and logs: `account.requests_per_minute`."""
    return f"{_WHOSE[subject]}.{limit}"


def error(ask: Ask, answer: Answer) -> ApiError:
    """429 with the true wait. Only for an answer that is refused."""
    refusal = answer.refusal
    assert refusal is not None
    return refused(ask, refusal, headers.of(ask, answer))


def refused(ask: Ask, refusal: Refusal, left: dict[str, str]) -> ApiError:
    """The same with what is `left`."""
    limit, whose = refusal.limit, _WHOSE[refusal.subject]
    left["x-parlance-limit"] = name(limit, refusal.subject)
    if limit in _LASTING:
        left["x-should-retry"] = "false"
    if limit is Limit.CREDIT:
        return ApiError(429, _CODES[limit], _no_credit(ask.characters), headers=left)
    number = getattr(ask.subjects[refusal.subject].limits, limit)
    message = _message(limit, whose, number, refusal.wait_ms, ask.characters)
    return ApiError(429, _CODES[limit], message, retry_after_ms=refusal.wait_ms, headers=left)


def check_size(ask: Ask, text_field: str) -> None:
    """Raises ApiError 400 for a text that no waiting would ever let through."""
    for subject, whose in zip(ask.subjects, _WHOSE, strict=False):
        most = subject.limits.characters_per_minute
        if most is not None and ask.characters > most:
            message = (
                f"The text has {ask.characters} characters, and this {whose} may speak {most} "
                "a minute: send it in smaller parts, or ask for a higher limit."
            )
            raise invalid(message, text_field, "string_above_max_length")


def _no_credit(characters: int) -> str:
    return (
        f"This account's prepaid credit is used up, or too little is left for these {characters} "
        "characters. Top it up: whoever runs this service books what is paid, and it counts at "
        "once."
    )


def _message(limit: Limit, whose: str, number: int, wait_ms: int, characters: int) -> str:
    again = f"Try again in {max(1, -(-wait_ms // 1000))} s, or ask for a higher limit."
    several = f"{number} {{}}{'' if number == 1 else 's'}".format
    if limit is Limit.REQUESTS:
        return f"This {whose} may begin {several('request')} a minute. {again}"
    if limit is Limit.CHARACTERS:
        return f"This {whose} may speak {several('character')} a minute. {again}"
    if limit is Limit.STREAMS:
        return f"This {whose} may have {several('stream')} at once. Wait until one ends."
    return (
        f"This {whose} may speak {several('character')} a month, and too few are left for these "
        f"{characters}. Raise its budget, or wait for the next month."
    )
