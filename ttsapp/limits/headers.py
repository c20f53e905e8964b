"""What is left, as headers of an answer: OpenAI's names where it has one, ours elsewhere."""

from __future__ import annotations

from ttsapp.limits.rules import Answer, Ask, State, Subject

Scope = tuple[Subject, State]


def of(ask: Ask, answer: Answer) -> dict[str, str]:
    """Of tenant and key, whichever has less left is told. OpenAI's tokens are our characters."""
    scopes = list(zip(ask.subjects, answer.states, strict=True))
    found: dict[str, str] = {}
    for kind, used, name in (
        ("requests", "requests", "requests_per_minute"),
        ("tokens", "characters", "characters_per_minute"),
    ):
        tightest = _tightest(scopes, used, name)
        if tightest is not None:
            limit, left, state = tightest
            found[f"x-ratelimit-limit-{kind}"] = str(limit)
            found[f"x-ratelimit-remaining-{kind}"] = str(left)
            found[f"x-ratelimit-reset-{kind}"] = f"{state.reset_ms}ms"
    for kind, used, name in (
        ("streams", "streams", "concurrent_streams"),
        ("budget", "spent", "hard_monthly_characters"),
    ):
        tightest = _tightest(scopes, used, name)
        if tightest is not None:
            found[f"x-parlance-{kind}-limit"] = str(tightest[0])
            found[f"x-parlance-{kind}-remaining"] = str(tightest[1])
    if any(state.is_past_soft for state in answer.states):
        found["x-parlance-budget-warning"] = "soft"
    if ask.purse and answer.credit:
        left = ask.purse.characters(answer.credit.used)
        found["x-parlance-credit-remaining"] = str(left)
    return found


def _tightest(scopes: list[Scope], used: str, name: str) -> tuple[int, int, State] | None:
    """The limit, what is left of it, and the state it was read from."""
    found = []
    for subject, state in scopes:
        limit, in_use = getattr(subject.limits, name), getattr(state, used)
        if limit is not None and in_use is not None:
            found.append((limit, max(0, limit - in_use), state))
    return min(found, key=lambda one: one[1], default=None)
