"""Every rule: what it looks at, in what unit, and from which value on it warns and alerts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from ttsapp.alerts import measures
from ttsapp.alerts.measures import Measured
from ttsapp.alerts.models import State

Measure = Callable[[datetime], Iterable[Measured]]
TELL_AGAIN = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Rule:
    """`steps`: values at which a rising one is told of again. `is_falling`: less is worse.
    `nothing`: what is said of a tenant that there is nothing to measure of. `one`: the unit of
    1."""

    code: str
    title: str
    unit: str
    warning: float | None
    alert: float | None
    measure: Measure
    why: str
    of_tenants: bool = False
    is_falling: bool = False
    steps: tuple[float, ...] = ()
    nothing: str = ""
    one: str = ""

    @property
    def warns_from(self) -> str:
        return self._said(self.warning)

    @property
    def alerts_from(self) -> str:
        return self._said(self.alert)

    def state(self, value: float | None) -> State:
        if value is None:
            return State.NO_DATA
        if self._reaches(value, self.alert):
            return State.ALERT
        return State.WARNING if self._reaches(value, self.warning) else State.OK

    def step(self, value: float | None) -> int:
        """How many of its steps a value has reached."""
        return 0 if value is None else sum(self._reaches(value, step) for step in self.steps)

    def between(self, warning: float | None, alert: float | None) -> Rule:
        """The same with an operator's thresholds; None keeps the rule's own."""
        return replace(
            self,
            warning=self.warning if warning is None else warning,
            alert=self.alert if alert is None else alert,
        )

    def _said(self, value: float | None) -> str:
        if value is None:
            return "none"
        unit = self.one if value == 1 and self.one else self.unit
        return f"{value:,.1f}".removesuffix(".0") + f" {unit}"

    def _reaches(self, value: float, threshold: float | None) -> bool:
        if threshold is None:
            return False
        return value <= threshold if self.is_falling else value >= threshold


RULES = (
    Rule(
        "first_audio", "First audio is late", "ms", 500, 1500, measures.first_audio,
        "95 % of the last five minutes' requests had their first audio within this.",
    ),
    Rule(
        "underruns", "Playback has gaps", "%", 1, 5, measures.underruns,
        "Share of the last hour's requests whose listener had to wait for audio.",
    ),
    Rule(
        "engine", "An engine is gone", "engines", None, 1, measures.engines_away,
        "Engines that do not answer, or are down.",
        one="engine",
    ),
    Rule(
        "queue", "Streams wait to be begun", "ms", 250, 1000, measures.queue,
        "95 % of the last minute's streams got a place and their first job within this, at the "
        "engine where it takes longest; one that waits longer at this moment counts too.",
    ),
    Rule(
        "refusals", "Requests are turned away", "%", 2, 10, measures.refusals,
        "Share of the last five minutes' requests that were answered with 429 or 503.",
    ),
    Rule(
        "ledger", "The ledger does not add up", "findings", None, 1, measures.findings,
        "What the metering checks found and nobody has resolved, missing partitions too.",
        one="finding",
    ),
    Rule(
        "disk", "The disk fills up", "%", 85, 95, measures.disk,
        "Of the data folder's disk in use: database file, kept audio, queue.",
    ),
    Rule(
        "budget", "A budget is used up", "%", 50, 100, measures.budgets,
        "Of the month's hard limit, or of the soft one where there is no hard one; keys' own too.",
        of_tenants=True, steps=(50, 80, 100), nothing="no budget is set",
    ),
    Rule(
        "credit", "Prepaid credit runs out", "days", 7, 2, measures.credit,
        "Until it is used up, at the last week's pace or today's; at 0 speech is refused.",
        one="day",
        of_tenants=True, is_falling=True, nothing="it does not speak on prepaid credit alone",
    ),
    Rule(
        "spend", "Far more is used than usual", "times", 3, 10, measures.spend,
        "Characters charged in the last full hour, beside the same hour a week ago.",
        one="time",
        of_tenants=True, nothing="nothing was charged in the last full hour",
    ),
    Rule(
        "network", "A key is used from a new network", "networks", 1, None, measures.new_networks,
        "Networks first seen in the last 24 hours, of keys that had others before.",
        one="network",
        of_tenants=True, nothing="no new network in the last 24 hours",
    ),
    Rule(
        "webhook", "A webhook fails", "deliveries", 1, 10, measures.failing_webhooks,
        "Deliveries that failed three times or more and have not arrived.",
        one="delivery",
        of_tenants=True, nothing="none",
    ),
    Rule(
        "consent", "A consent ends soon", "days", 30, 7, measures.consents,
        "Until the next speaker's consent ends, and with it the voices that rest on it.",
        one="day",
        of_tenants=True, is_falling=True, nothing="no consent of a voice has an end",
    ),
)  # fmt: skip
BY_CODE = {rule.code: rule for rule in RULES}
