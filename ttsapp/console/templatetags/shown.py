"""How pages write numbers and times. Plain Python: a page of a thousand numbers spends its time on
them, and Django's own filters ask for the viewer's locale at each, which here has one answer."""

from __future__ import annotations

from datetime import UTC, date, datetime

from django import template
from django.utils.safestring import SafeString, mark_safe

from ttsapp.console.live.cells import duration

register = template.Library()
NONE = "\N{EN DASH}"
MINUTE_MS = 60_000
ENDS = (".", "!", "?", "…", "。", "！", "？")  # noqa: RUF001
# The second is what a template has in hand where something on the way to the number is None.
MISSING = (None, "")


@register.filter
def grouped(value: int | str | None) -> str:
    """`1,234`."""
    return NONE if value in MISSING else f"{value:,}"


@register.filter
def places(value: float | str | None, count: int = 1) -> str:
    """`1,234.5`."""
    return NONE if value in MISSING else f"{value:,.{count}f}"


@register.filter
def spoken(ms: int) -> str:
    """Audio: `2.6 s`, from a minute on `12.3 min`."""
    return f"{ms / 1000:,.1f} s" if ms < MINUTE_MS else f"{ms / MINUTE_MS:,.1f} min"


@register.filter
def stopped(text: str) -> str:
    """What somebody wrote, as a sentence that another may follow."""
    return text if text.endswith(ENDS) else f"{text}."


@register.filter
def lasted(seconds: float) -> str:
    """`25 min`, `1 h 5 min`, `2 d 2 h`."""
    return duration(seconds)


@register.filter
def day(value: date | str | None) -> str:
    """`2026-11-30`."""
    return NONE if value in MISSING else f"{value:%Y-%m-%d}"


@register.filter
def moment(at: datetime) -> SafeString:
    """UTC, which the page's script turns into the viewer's own zone."""
    utc = at.astimezone(UTC)
    machine, full, short = utc.isoformat(), f"{utc:%Y-%m-%d %H:%M:%S}", f"{utc:%Y-%m-%d %H:%M}"
    html = f'<time datetime="{machine}" title="{full} UTC">{short} UTC</time>'
    return mark_safe(html)
