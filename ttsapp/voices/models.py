"""A tenant's own voices, the consents they rest on, and who else may use them.

Sound and artifacts lie in the store (`storage.py`) under the hash of their content; rows hold the
hash. Presets belong to checkpoints and have no row."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from django.db import models
from django.utils import timezone

from ttsapp.ids import uuid7

DIGEST_LENGTH = 64


def public_id(prefix: str) -> str:
    return f"{prefix}_{uuid7().hex}"


class Kind(models.TextChoices):
    """How a voice is told to the engine."""

    X_VECTOR = "x_vector", "clone of the timbre"
    IN_CONTEXT = "in_context", "clone of timbre and manner"
    DESIGNED = "designed", "designed from a description"


class Relation(models.TextChoices):
    """Who the speaker is to the tenant."""

    SELF = "self", "the account holder"
    STAFF = "staff", "employed by us"
    CONTRACTOR = "contractor", "hired for the recording"
    CUSTOMER = "customer", "a customer of ours"
    FAMILY = "family", "family or friend"
    LICENSED = "licensed", "licensed by a third party"
    UNSTATED = "unstated", "not stated"


class Stage(models.TextChoices):
    """How far a voice is on its way to be used; only a live one may be."""

    DRAFT = "draft", "not published"
    REVIEW = "review", "in review"
    REFUSED = "refused", "refused"
    LIVE = "live", "published"


class Consent(models.Model):
    """A speaker's permission: what a clone rests on, for as long as it holds."""

    public_id = models.CharField(max_length=40, unique=True, default=partial(public_id, "consent"))
    tenant = models.ForeignKey("tenants.Tenant", models.PROTECT, related_name="consents")
    name = models.CharField(max_length=100)
    person = models.CharField("who speaks", max_length=200)
    relation = models.CharField(max_length=20, choices=Relation.choices)
    purposes = models.CharField(max_length=500)
    territory = models.CharField(max_length=200, default="worldwide")
    language = models.CharField(max_length=35, blank=True)
    evidence = models.CharField(max_length=DIGEST_LENGTH, blank=True, editable=False)
    evidence_type = models.CharField(max_length=50, blank=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.CharField(max_length=200)
    expires_at = models.DateTimeField(null=True, blank=True)
    withdrawn_at = models.DateTimeField(null=True, editable=False)
    withdrawn_because = models.CharField(max_length=300, blank=True, editable=False)
    deleted_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ("-id",)
        indexes = (models.Index(fields=["tenant", "-id"], name="consents_by_tenant"),)

    def __str__(self) -> str:
        return f"{self.name} ({self.person})"

    @property
    def live_voices(self) -> int:
        """Of those that were looked up with it."""
        return sum(voice.deleted_at is None for voice in self.voices.all())

    @property
    def ended_at(self) -> datetime | None:
        """Whichever came first; None while it holds."""
        if self.state == "active":
            return None
        ends = (self.withdrawn_at, self.expires_at)
        return min(end for end in ends if end is not None)

    @property
    def state(self) -> str:
        if self.withdrawn_at is not None:
            return "withdrawn"
        is_over = self.expires_at is not None and self.expires_at <= timezone.now()
        return "expired" if is_over else "active"


class Voice(models.Model):
    """Deleted ones keep this row, without a version, so that the register stays readable."""

    public_id = models.CharField(max_length=40, unique=True, default=partial(public_id, "voice"))
    tenant = models.ForeignKey("tenants.Tenant", models.PROTECT, related_name="voices")
    consent = models.ForeignKey(Consent, models.PROTECT, null=True, related_name="voices")
    kind = models.CharField(max_length=20, choices=Kind.choices)
    name = models.CharField(max_length=100)
    # What makes the name the tenant's only one, whatever its case; deleted voices give it up.
    folded_name = models.CharField(max_length=140, null=True, editable=False)
    description = models.CharField(max_length=1000, blank=True)
    language = models.CharField(max_length=20, default="auto")
    tags = models.JSONField(default=list, blank=True)
    speed = models.FloatField("default speed", default=1.0)
    # What codes of the voice carry: counted up, it voids those that were given out.
    share_series = models.PositiveIntegerField(default=0, editable=False)
    # Processes of the version before this one make voices as well, during an upgrade.
    stage = models.CharField(
        max_length=10,
        choices=Stage.choices,
        default=Stage.LIVE,
        db_default=Stage.LIVE.value,
        editable=False,
    )
    review_note = models.CharField(
        max_length=300, blank=True, default="", db_default="", editable=False
    )
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.CharField(max_length=200)
    deleted_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ("-id",)
        constraints = (
            models.UniqueConstraint(
                fields=["tenant", "folded_name"], name="one_voice_of_a_name_per_tenant"
            ),
        )

    def __str__(self) -> str:
        return self.name

    @property
    def ended(self) -> str:
        """Why it may not even be heard; empty while it may. Its consent may end any moment."""
        if self.deleted_at is not None:
            return "deleted"
        state = self.consent.state if self.consent is not None else "active"
        return "" if state == "active" else state

    @property
    def state(self) -> str:
        return self.ended or ("active" if self.stage == Stage.LIVE else self.stage)


class VoiceVersion(models.Model):
    """One encoding of a voice by one checkpoint; the last is the one that speaks.

    `artifact` is what the engine is sent, `clip` the stretch of the recording that it was made
    from (none where an embedding was uploaded)."""

    voice = models.ForeignKey(Voice, models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    model = models.CharField(max_length=100)
    fingerprint = models.CharField(max_length=100)
    artifact = models.CharField(max_length=DIGEST_LENGTH, db_index=True)
    clip = models.CharField(max_length=DIGEST_LENGTH, blank=True, db_index=True)
    text = models.CharField("what is said in it", max_length=1000, blank=True)
    start_ms = models.PositiveIntegerField(default=0)
    end_ms = models.PositiveIntegerField(default=0)
    checks = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.CharField(max_length=200)

    class Meta:
        ordering = ("number",)
        constraints = (
            models.UniqueConstraint(fields=["voice", "number"], name="one_version_of_a_number"),
        )

    def __str__(self) -> str:
        return f"{self.voice} v{self.number}"

    @property
    def start_seconds(self) -> float:
        return self.start_ms / 1000

    @property
    def end_seconds(self) -> float:
        return self.end_ms / 1000

    @property
    def clipped_percent(self) -> float | None:
        clipped = self.checks.get("clipped")
        return None if clipped is None else 100 * clipped


class Removal(models.Model):
    """A deleted voice on its way out of memory: every engine's, pins included, and every web
    process's. `told`: what each engine held before and after, by its address. Nobody deletes a
    voice's artifact without one."""

    voice = models.ForeignKey(Voice, models.CASCADE, related_name="removals")
    artifacts = models.JSONField(default=list)
    told = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)
    done_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"{self.voice.public_id}: {len(self.artifacts)} artifacts"


class Share(models.Model):
    """Another tenant that may speak with a voice, by the code it was given."""

    voice = models.ForeignKey(Voice, models.CASCADE, related_name="shares")
    tenant = models.ForeignKey("tenants.Tenant", models.CASCADE, related_name="shared_voices")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=["voice", "tenant"], name="shared_once_with_a_tenant"),
        )

    def __str__(self) -> str:
        return f"{self.voice} with {self.tenant}"


class HiddenPreset(models.Model):
    """A checkpoint's voice that a tenant does not want in its lists. It can still be named."""

    tenant = models.ForeignKey("tenants.Tenant", models.CASCADE, related_name="hidden_presets")
    name = models.CharField(max_length=100)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("name",)
        constraints = (
            models.UniqueConstraint(fields=["tenant", "name"], name="hidden_once_by_a_tenant"),
        )

    def __str__(self) -> str:
        return self.name


class Alias(models.Model):
    """What one of OpenAI's names stands for in a tenant, where that is not as usual: a voice of a
    model's by its name, a voice of the tenant's by its id, or a model. It may be gone by now."""

    tenant = models.ForeignKey("tenants.Tenant", models.CASCADE, related_name="aliases")
    name = models.CharField(max_length=50)
    target = models.CharField(max_length=100)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("name",)
        constraints = (
            models.UniqueConstraint(fields=["tenant", "name"], name="one_alias_of_a_name"),
        )

    def __str__(self) -> str:
        return f"{self.name} is {self.target}"


class Shelf(models.Model):
    """Counts the changes to what a tenant may speak with, so that no process goes on with a voice
    that was withdrawn: read with every look-up of a key."""

    tenant = models.OneToOneField(
        "tenants.Tenant", models.CASCADE, primary_key=True, related_name="shelf"
    )
    number = models.PositiveBigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.tenant}: {self.number}"
