"""What a tenant wants to hear in place of what is written."""

from __future__ import annotations

from django.core.validators import RegexValidator
from django.db import models

from ttsapp.speech.text.languages import NAMES

# A letter or a digit, and no line break: anything else could never be found, or never be said.
_SPEAKABLE = RegexValidator(r"[^\W_]", "Write at least one letter or digit.")
_ONE_LINE = RegexValidator(r"\A[^\x00-\x1f\x7f]*\Z", "Write it on one line.")
_LANGUAGES = [("", "every language"), *((code, name.title()) for code, name in NAMES.items())]


class Word(models.Model):
    """`language`: a code; empty: every language that has no entry of its own."""

    tenant = models.ForeignKey("tenants.Tenant", models.CASCADE, related_name="words")
    word = models.CharField(max_length=100, validators=[_SPEAKABLE, _ONE_LINE])
    alias = models.CharField("said instead", max_length=200, validators=[_SPEAKABLE, _ONE_LINE])
    language = models.CharField(max_length=2, blank=True, choices=_LANGUAGES)
    is_case_sensitive = models.BooleanField("only in this spelling", default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("word", "language")
        constraints = (
            models.UniqueConstraint(
                fields=["tenant", "word", "language"], name="one_alias_per_word_and_language"
            ),
        )

    def __str__(self) -> str:
        return f"{self.word} → {self.alias}"


class Version(models.Model):
    """Counts a tenant's changes, so that no process says an old word for long."""

    tenant = models.OneToOneField("tenants.Tenant", models.CASCADE, primary_key=True)
    number = models.PositiveBigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.tenant}: {self.number}"
