"""What people fill in about voices and consents; what it may be is checked where it is kept."""

from __future__ import annotations

from collections.abc import Container
from datetime import UTC, date, datetime, time
from typing import Any

from django import forms

from billing.fields import DayField
from ttsapp.errors import ApiError
from ttsapp.speech.encoders import FASTEST, SLOWEST
from ttsapp.speech.text.languages import AUTO, NAMES
from ttsapp.tenants.models import Tenant
from ttsapp.voices import fields, selectors
from ttsapp.voices.models import Relation
from ttsapp.voices.services.consents import Terms
from ttsapp.voices.services.registry import Description

_SOUNDS = {"accept": "audio/*"}
_PROOFS = {"accept": "audio/*,application/pdf,image/png,image/jpeg"}


class RefusableForm(forms.Form):
    """Shows a refusal beside the field that it names. `trouble`: one that passes by itself, and is
    no field's fault."""

    trouble: ApiError | None = None

    def refuse(self, error: ApiError) -> None:
        name = error.field if error.field in self.fields else None
        if error.status == 429 or error.status >= 500:
            self.trouble, name = error, None
        self.add_error(name, error.message)


class DescriptionForm(RefusableForm):
    name = forms.CharField(max_length=100)
    language = forms.ChoiceField(
        initial=AUTO,
        label="Language it speaks",
        error_messages={"invalid_choice": "No engine here speaks it: choose another."},
    )
    speed = forms.FloatField(min_value=SLOWEST, max_value=FASTEST, initial=1.0, label="Usual speed")
    tags = forms.CharField(max_length=800, required=False, label="Tags, with commas between")
    description = forms.CharField(max_length=1000, required=False)

    def __init__(self, *args: Any, languages: Container[str] | None, **kwargs: Any) -> None:
        """`languages`: what its engine speaks; None where that is away, and nobody can tell."""
        super().__init__(*args, **kwargs)
        field = self.fields["language"]
        assert isinstance(field, forms.ChoiceField)
        spoken = (name for name in NAMES.values() if languages is None or name in languages)
        field.choices = [(AUTO, "as the text is"), *((name, name.title()) for name in spoken)]

    def described(self) -> Description:
        """Raises ApiError 400."""
        given = self.cleaned_data
        tags = [tag for tag in given["tags"].split(",") if tag.strip()]
        text = fields.line(given["description"], "description", 1000, is_required=False)
        return Description(
            name=fields.name(given["name"]),
            description=text,
            language=given["language"],
            tags=tuple(fields.tags(tags)),
            speed=given["speed"],
        )


class RecordingForm(RefusableForm):
    recording = forms.FileField(label="Recording", widget=forms.FileInput(attrs=_SOUNDS))
    text = forms.CharField(
        max_length=fields.TEXT_LENGTH,
        required=False,
        label="What is said in it, word for word (keeps the manner too)",
        widget=forms.Textarea(attrs={"rows": 2}),
    )


class CloneForm(RecordingForm, DescriptionForm):
    consent = forms.ChoiceField(label="The speaker's consent")
    is_draft = forms.BooleanField(
        required=False, label="Hear test takes before it is published: no request may use it yet"
    )
    field_order = ("recording", "text", "consent", "name", "language", "speed", "tags")

    def __init__(self, *args: Any, tenant: Tenant, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["consent"]
        assert isinstance(field, forms.ChoiceField)
        rows = (row for row in selectors.consents(tenant) if row.state == "active")
        field.choices = [(row.public_id, str(row)) for row in rows]


class ReviewForm(RefusableForm):
    decision = forms.ChoiceField(choices=[("approve", "approve"), ("refuse", "refuse")])
    reason = forms.CharField(max_length=300, required=False, label="Reason, for whoever made it")


class DesignForm(DescriptionForm):
    prompt = forms.CharField(
        max_length=4096,
        label="How it sounds",
        widget=forms.Textarea(
            attrs={"rows": 3, "placeholder": "A warm, low voice of a woman in her fifties …"}
        ),
    )


class ConsentForm(RefusableForm):
    person = forms.CharField(max_length=200, label="Who speaks")
    relation = forms.ChoiceField(choices=Relation.choices, initial=Relation.SELF)
    name = forms.CharField(max_length=100, label="What you call this consent")
    purposes = forms.CharField(
        max_length=500, initial="speech synthesis", label="What the voice may be used for"
    )
    territory = forms.CharField(max_length=200, initial="worldwide", label="Where")
    language = forms.CharField(max_length=35, required=False, label="Language of the statement")
    expires_on = DayField(required=False, label="Until (empty: until it is withdrawn)")
    recording = forms.FileField(
        label="Proof: the recorded statement, or a signed document (pdf, png, jpeg)",
        widget=forms.FileInput(attrs=_PROOFS),
    )

    def terms(self) -> Terms:
        given = self.cleaned_data
        return Terms(
            name=given["name"],
            person=given["person"],
            relation=Relation(given["relation"]),
            purposes=given["purposes"],
            territory=given["territory"],
            language=given["language"],
            expires_at=end_of(given["expires_on"]),
        )


class ExpiryForm(RefusableForm):
    """Another end for a consent; empty: none."""

    expires_on = DayField(required=False, label="Until")


class WithdrawForm(RefusableForm):
    reason = forms.CharField(max_length=300, required=False, label="Reason")


class CodeForm(RefusableForm):
    code = forms.CharField(max_length=300, label="Code of a voice that is shared with you")


def end_of(day: date | None) -> datetime | None:
    """The last second of a day, in UTC."""
    return datetime.combine(day, time(23, 59, 59), UTC) if day is not None else None
