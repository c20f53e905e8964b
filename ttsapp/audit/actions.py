"""Every audited action, each with its sentence: none is free text."""

from __future__ import annotations

from enum import StrEnum


class Action(StrEnum):
    """A value is kept for ever; the sentence may be mended."""

    sentence: str

    TENANT_CREATED = "tenant.created", "created the tenant"
    TENANT_RENAMED = "tenant.renamed", "renamed the tenant"
    TENANT_SUSPENDED = "tenant.suspended", "suspended the tenant"
    TENANT_RESTORED = "tenant.restored", "restored the tenant"
    TENANT_LIMITED = "tenant.limited", "changed the tenant's limits"
    MEMBER_INVITED = "member.invited", "invited somebody"
    INVITATION_WITHDRAWN = "member.invitation_withdrawn", "withdrew an invitation"
    MEMBER_ADDED = "member.added", "added a member"
    MEMBER_ROLE_CHANGED = "member.role_changed", "changed a member's role"
    MEMBER_REMOVED = "member.removed", "removed a member"
    OPERATOR_ADDED = "operator.added", "gave a role over the installation"
    OPERATOR_REMOVED = "operator.removed", "took a role over the installation"
    KEY_CREATED = "key.created", "created a key"
    KEY_CHANGED = "key.changed", "changed what a key may do"
    KEY_ROTATED = "key.rotated", "gave a key a new secret"
    KEY_REVOKED = "key.revoked", "revoked a key"
    KEY_EXPIRED = "key.expired", "let a key expire that nobody used"
    WORD_ADDED = "word.added", "added a word to the lexicon"
    WORD_CHANGED = "word.changed", "changed a word of the lexicon"
    WORD_REMOVED = "word.removed", "removed a word from the lexicon"
    VOICE_CREATED = "voice.created", "made a voice"
    VOICE_RENEWED = "voice.renewed", "added a version to a voice"
    VOICE_CHANGED = "voice.changed", "changed a voice"
    VOICE_SUBMITTED = "voice.submitted", "asked for a voice to be approved"
    VOICE_PUBLISHED = "voice.published", "published a voice"
    VOICE_APPROVED = "voice.approved", "approved a voice"
    VOICE_REFUSED = "voice.refused", "refused a voice"
    REVIEWS_CHANGED = "voice.reviews_changed", "changed whether new clones wait for approval"
    VOICE_SHARED = "voice.shared", "took on a shared voice"
    VOICE_UNSHARED = "voice.unshared", "ended the sharing of a voice"
    VOICE_DELETED = "voice.deleted", "deleted a voice and what it was made of"
    VOICE_FORGOTTEN = "voice.forgotten", "took a deleted voice out of every engine's memory"
    PRESET_HIDDEN = "preset.hidden", "hid a voice from its lists"
    PRESET_SHOWN = "preset.shown", "showed a hidden voice again"
    ALIAS_CHANGED = "alias.changed", "had one of OpenAI's names stand for another voice or model"
    CONSENT_RECORDED = "consent.recorded", "recorded a speaker's consent"
    CONSENT_CHANGED = "consent.changed", "changed a consent"
    CONSENT_WITHDRAWN = "consent.withdrawn", "withdrew a consent"
    EVIDENCE_OPENED = "consent.evidence_opened", "opened the proof of a consent"
    CONSENT_DELETED = "consent.deleted", "deleted a consent and its proof"
    PRICE_BOOK_CREATED = "price_book.created", "made a price book"
    PRICE_BOOK_MADE_DEFAULT = "price_book.made_default", "made a price book the default"
    PRICES_CHANGED = "prices.changed", "added a version to a price book"
    PRICES_AGREED = "prices.agreed", "agreed with the tenant on a price book"
    SELLER_CHANGED = "seller.changed", "changed who sends invoices"
    BILLING_DETAILS_CHANGED = "billing.details_changed", "changed the billing details"
    INVOICE_ISSUED = "invoice.issued", "issued an invoice"
    CREDIT_NOTE_ISSUED = "invoice.credited", "issued a credit note"
    CREDIT_BOOKED = "credit.booked", "booked prepaid credit"
    RETENTION_CHANGED = "retention.changed", "changed how long usage events are kept"
    AUDIO_RETENTION_CHANGED = "retention.audio_changed", "changed how long requests' audio is kept"
    TEXT_RETENTION_CHANGED = "retention.text_changed", "changed how long requests' texts are kept"
    REQUEST_READ = "request.read", "read a request's text"
    REQUEST_HEARD = "request.heard", "listened to a request's audio"
    COSTS_CHANGED = "costs.changed", "changed what machines or overheads cost"
    ALERT_MUTED = "alert.muted", "muted an alert"
    ALERT_UNMUTED = "alert.unmuted", "muted an alert no more"
    RULE_CHANGED = "alert.rule_changed", "changed when an alert is raised"
    RECIPIENTS_CHANGED = "alert.recipients_changed", "changed who is mailed"
    WEBHOOK_CREATED = "webhook.created", "made a webhook"
    WEBHOOK_CHANGED = "webhook.changed", "switched a webhook"
    WEBHOOK_ROTATED = "webhook.rotated", "gave a webhook another secret"
    WEBHOOK_REMOVED = "webhook.removed", "removed a webhook"
    ENGINE_DRAINED = "engine.drained", "drained an engine"
    ENGINE_UNDRAINED = "engine.undrained", "let an engine take work again"
    ENGINE_TRACED = "engine.traced", "captured a trace of an engine"
    VOICE_PINNED = "engine.voice_pinned", "pinned a voice to an engine"
    VOICE_UNPINNED = "engine.voice_unpinned", "unpinned a voice from an engine"
    VOICE_UNLOADED = "engine.voice_unloaded", "unloaded a voice from an engine"
    VIEW_SHARED = "view.shared", "shared a view of a list"
    VIEW_REMOVED = "view.removed", "removed a shared view of a list"
    METERING_CHECKED = "metering.checked", "asked for a check of the ledger"
    AUDIT_EXPORTED = "audit.exported", "exported the audit log"

    def __new__(cls, value: str, sentence: str) -> Action:
        action = str.__new__(cls, value)
        action._value_ = value
        action.sentence = sentence
        return action


def sentence_of(value: str) -> str:
    """Also for an action that this version no longer knows."""
    return next((action.sentence for action in Action if action.value == value), value)
