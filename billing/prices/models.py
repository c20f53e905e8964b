"""Price books in versions, and which tenant pays by which."""

from __future__ import annotations

from django.core.validators import MaxValueValidator
from django.db import models

from billing.money import is_currency
from billing.prices.rates import VoiceKind


class PriceBook(models.Model):
    """Prices in one currency. Tenants without an agreement pay by the month's default one."""

    name = models.CharField(max_length=100)
    slug = models.SlugField(unique=True)
    currency = models.CharField(max_length=3, validators=[is_currency])
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return f"{self.name} ({self.currency})"


class DefaultBook(models.Model):
    """From this month on tenants without an agreement pay by this book."""

    book = models.ForeignKey(PriceBook, models.PROTECT, related_name="defaults")
    from_month = models.DateField(unique=True, help_text="The first of a month, UTC.")

    class Meta:
        ordering = ("from_month",)

    def __str__(self) -> str:
        return f"{self.book.slug} from {self.from_month:%Y-%m}"


class PriceVersion(models.Model):
    """In force from a UTC day until the next version's; the first one before its day as well.
    Never edited: a new price is a new version."""

    book = models.ForeignKey(PriceBook, models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    valid_from = models.DateField()
    minimum_characters = models.PositiveIntegerField(
        default=0,
        validators=[MaxValueValidator(100_000)],
        help_text="Charged for a request that is shorter.",
    )
    note = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("book", "number")
        constraints = (
            models.UniqueConstraint(fields=["book", "number"], name="price_versions_count_up"),
        )

    def __str__(self) -> str:
        return f"{self.book.slug} v{self.number}"


class PriceRate(models.Model):
    """One tier of one rate; empty model or kind: any."""

    version = models.ForeignKey(PriceVersion, models.PROTECT, related_name="rates")
    model = models.CharField(max_length=100, blank=True)
    voice_kind = models.CharField(
        max_length=10, blank=True, choices=[(kind.value, kind.value) for kind in VoiceKind]
    )
    above = models.PositiveBigIntegerField(help_text="Characters of the month before this tier.")
    per_million_micros = models.PositiveBigIntegerField()

    class Meta:
        ordering = ("version", "model", "voice_kind", "above")
        constraints = (
            models.UniqueConstraint(
                fields=["version", "model", "voice_kind", "above"], name="one_price_a_tier"
            ),
        )

    def __str__(self) -> str:
        return f"{self.model or 'any'}/{self.voice_kind or 'any'} above {self.above}"


class Agreement(models.Model):
    """From this month on the tenant pays by this book: one currency an invoice."""

    tenant = models.ForeignKey("tenants.Tenant", models.PROTECT, related_name="agreements")
    book = models.ForeignKey(PriceBook, models.PROTECT, related_name="agreements")
    from_month = models.DateField(help_text="The first of a month, UTC.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("tenant", "from_month")
        constraints = (
            models.UniqueConstraint(fields=["tenant", "from_month"], name="one_price_book_a_month"),
        )

    def __str__(self) -> str:
        return f"{self.tenant} by {self.book.slug} from {self.from_month:%Y-%m}"


class DaySale(models.Model):
    """What a tenant's UTC day was sold for, and how many characters that was; without a price the
    currency is empty. `billing.prices.day_sales` adds them up again and again: not for invoices."""

    day = models.DateField()
    tenant = models.ForeignKey("tenants.Tenant", models.PROTECT, related_name="+", db_index=False)
    currency = models.CharField(max_length=3, blank=True)
    characters = models.BigIntegerField()
    micros = models.BigIntegerField()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["day", "tenant", "currency"], name="one_sale_a_day"),
        )

    def __str__(self) -> str:
        return f"{self.tenant} on {self.day}"
