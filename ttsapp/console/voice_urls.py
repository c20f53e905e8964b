"""Pages about a tenant's voices, the consents they rest on, and how words are said."""

from __future__ import annotations

from django.urls import path

from ttsapp.console.views import aliases, consents, pronunciations, reviews, voice_making, voices

_VOICES = "<slug:slug>/voices"
_VOICE = f"{_VOICES}/of/<str:name>"
_WORDS = "<slug:slug>/pronunciations"
_CONSENTS = "<slug:slug>/consents"
_CONSENT = f"{_CONSENTS}/of/<str:name>"

routes = [
    path(_VOICES, voices.voices, name="voices"),
    path(f"{_VOICES}.csv", voices.voices_csv, name="voices_csv"),
    path(f"{_VOICES}/clone", voice_making.clone, name="clone"),
    path(f"{_VOICES}/check", voice_making.check, name="check_recording"),
    path(f"{_VOICES}/design", voice_making.design, name="design"),
    path(f"{_VOICES}/hide", voices.hide, name="hide_preset"),
    path(f"{_VOICES}/share", voices.accept_share, name="accept_share"),
    path(_VOICE, voices.voice, name="voice"),
    path(f"{_VOICE}/takes", reviews.take, name="take_of_voice"),
    path(f"{_VOICE}/publish", reviews.publish, name="publish_voice"),
    path(f"{_VOICE}/review", reviews.review, name="review_voice"),
    path(f"{_VOICE}/renew", voice_making.renew, name="renew_voice"),
    path(f"{_VOICE}/unshare", voices.end_share, name="end_share"),
    path(f"{_VOICE}/delete", voices.delete_voice, name="delete_voice"),
    path(f"{_VOICE}/previews/<int:place>", voices.preview, name="preview"),
    path("<slug:slug>/names", aliases.names, name="names"),
    path(_WORDS, pronunciations.pronunciations, name="pronunciations"),
    path(f"{_WORDS}.csv", pronunciations.pronunciations_csv, name="pronunciations_csv"),
    path(f"{_WORDS}/<int:word_id>", pronunciations.change_word, name="change_word"),
    path(f"{_WORDS}/<int:word_id>/remove", pronunciations.remove_word, name="remove_word"),
    path(_CONSENTS, consents.consents, name="consents"),
    path(f"{_CONSENTS}.csv", consents.consents_csv, name="consents_csv"),
    path(f"{_CONSENTS}/new", consents.new_consent, name="new_consent"),
    path(_CONSENT, consents.consent, name="consent"),
    path(f"{_CONSENT}/register.csv", consents.register_csv, name="register_csv"),
    path(f"{_CONSENT}/withdraw", consents.withdraw, name="withdraw_consent"),
    path(f"{_CONSENT}/until", consents.limit, name="limit_consent"),
    path(f"{_CONSENT}/delete", consents.delete_consent, name="delete_consent"),
    path(f"{_CONSENT}/evidence", consents.evidence, name="evidence"),
]
