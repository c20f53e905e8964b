"""Who bills whom, and the documents: written once, numbered without a gap."""

from __future__ import annotations

from django.core.validators import MaxValueValidator, RegexValidator
from django.db import models

from billing.facts import Fact
from ttsapp.ids import uuid7


class Seller(models.Model):
    """In whose name tenants are billed; its documents are numbered in one sequence."""

    name = models.CharField(max_length=200)
    address = models.TextField(max_length=500, blank=True)
    tax_number = models.CharField(max_length=50, blank=True)
    prefix = models.CharField(
        max_length=10,
        unique=True,
        validators=[RegexValidator(r"\A[A-Z0-9]+-\Z", "Capitals and digits, then a hyphen.")],
        help_text="Of its documents' numbers, such as ACME-.",
    )
    days_to_pay = models.PositiveSmallIntegerField(default=14, validators=[MaxValueValidator(365)])
    note = models.TextField(max_length=1000, blank=True, help_text="At the foot of documents.")
    last_number = models.PositiveIntegerField(default=0, editable=False)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name

    def label(self, number: int) -> str:
        return f"{self.prefix}{number:06d}"


class BillingDetails(models.Model):
    """Whom a tenant's invoices are made out to. Without them a tenant gets none."""

    tenant = models.OneToOneField("tenants.Tenant", models.PROTECT, related_name="billing_details")
    seller = models.ForeignKey(Seller, models.PROTECT, related_name="customers")
    name = models.CharField(max_length=200)
    address = models.TextField(max_length=500, blank=True)
    tax_number = models.CharField(max_length=50, blank=True)
    email = models.EmailField(blank=True)
    next_month = models.DateField(help_text="The next month to be invoiced: its first day, UTC.")
    # Processes of the version before this one name customers as well, during an upgrade.
    is_prepaid = models.BooleanField(
        "Speaks on prepaid credit alone",
        default=False,
        db_default=False,
        help_text="When the credit is used up, requests to speak are refused until there is more.",
    )

    class Meta:
        ordering = ("tenant",)
        verbose_name_plural = "billing details"

    def __str__(self) -> str:
        return self.name


class Kind(models.TextChoices):
    INVOICE = "invoice"
    CREDIT_NOTE = "credit_note", "credit note"


class Document(Fact):
    """Everything that is printed on it is in it and its lines: what changes later leaves it be.

    Amounts are micros, whole smallest units of the currency, and positive in credit notes too."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    seller = models.ForeignKey(Seller, models.PROTECT, related_name="documents")
    tenant = models.ForeignKey("tenants.Tenant", models.PROTECT, related_name="documents")
    kind = models.CharField(max_length=12, choices=Kind.choices)
    number = models.PositiveIntegerField()
    label = models.CharField(max_length=24, help_text="The number as it is printed.")
    month = models.DateField(help_text="The first day of what is billed.")
    currency = models.CharField(max_length=3)
    total_micros = models.PositiveBigIntegerField()
    credit_micros = models.PositiveBigIntegerField(
        help_text="Of it, drawn from what was paid ahead; of a credit note: put back there."
    )
    top_up_characters = models.PositiveBigIntegerField(
        null=True,
        help_text="Of its lines' characters, those that no text has: prices' minimums a request."
        " None: a credit note, or issued before they were noted.",
    )
    corrects = models.ForeignKey("self", models.PROTECT, null=True, related_name="credit_notes")
    reason = models.CharField(max_length=300, blank=True)
    seller_lines = models.JSONField()
    buyer_lines = models.JSONField()
    note = models.TextField(blank=True)
    issued_at = models.DateTimeField()
    due_on = models.DateField()

    class Meta:
        ordering = ("-id",)
        # The newest of a tenant's, page by page.
        indexes = (models.Index(fields=["tenant", "-id"], name="documents_by_tenant"),)
        constraints = (
            models.UniqueConstraint(fields=["seller", "number"], name="documents_count_up"),
            models.UniqueConstraint(
                fields=["tenant", "month"],
                condition=models.Q(kind=Kind.INVOICE),
                name="one_invoice_a_month",
            ),
            models.CheckConstraint(
                condition=models.Q(credit_micros__lte=models.F("total_micros")),
                name="no_more_credit_than_total",
            ),
        )

    def __str__(self) -> str:
        return self.label

    @property
    def due_micros(self) -> int:
        """To be paid; of a credit note: no longer to be paid."""
        return self.total_micros - self.credit_micros

    @property
    def still_due_micros(self) -> int:
        """What an invoice's credit notes leave to be paid; nothing of a credit note."""
        if self.kind != Kind.INVOICE:
            return 0
        lowered = (int(note.due_micros) for note in self.credit_notes.all())
        return self.due_micros - sum(lowered)


class DocumentLine(Fact):
    """Characters at one price, or a correction of such a line."""

    document = models.ForeignKey(Document, models.PROTECT, related_name="lines")
    position = models.PositiveSmallIntegerField()
    text = models.CharField(max_length=300)
    model = models.CharField(max_length=100, blank=True)
    voice_kind = models.CharField(max_length=10, blank=True)
    # Processes of the version before this one issue invoices as well, during an upgrade.
    price_book = models.CharField(max_length=50, blank=True, default="", db_default="")
    price_version = models.PositiveIntegerField(null=True)
    characters = models.PositiveBigIntegerField()
    per_million_micros = models.PositiveBigIntegerField()
    amount_micros = models.PositiveBigIntegerField()

    class Meta:
        ordering = ("document", "position")
        constraints = (
            models.UniqueConstraint(fields=["document", "position"], name="lines_count_up"),
        )

    def __str__(self) -> str:
        return self.text
