"""Which page about voices and consents opens to whom; `matrix.py` has the others."""

from __future__ import annotations

from tests.console.matrix import Row, tenant

VOICE = "/console/alice/voices/of/x"
WORDS = "/console/alice/pronunciations"
CONSENT = "/console/alice/consents/of/x"
SHOWN = tenant(200, 200, 200, 200)
MANAGED = tenant(403, 200, 200, 200)
REFUSED = tenant(403, 400, 400, 400)
# There is no voice and no consent of that name; whether a model's own has it, no engine is there to
# tell.
NOT_THERE = tenant(404, 404, 404, 404)
NOT_THERE_TO_CHANGE = tenant(403, 404, 404, 404)

# What a script gets, tested over a real server.
FETCHED = ("/console/alice/voices/check", "/console/alice/voices/of/x/takes")
ROWS = (
    Row("/console/alice/voices", "GET", SHOWN),
    Row("/console/alice/voices/clone", "GET", MANAGED),
    Row("/console/alice/voices/clone", "POST", REFUSED),
    Row("/console/alice/voices/design", "GET", MANAGED),
    Row("/console/alice/voices/design", "POST", REFUSED),
    Row("/console/alice/voices/hide", "POST", tenant(403, 503, 503, 503)),
    Row("/console/alice/voices/share", "POST", REFUSED),
    Row(VOICE, "GET", NOT_THERE),
    Row(VOICE, "POST", NOT_THERE),
    Row(f"{VOICE}/publish", "POST", NOT_THERE_TO_CHANGE),
    Row(f"{VOICE}/review", "POST", tenant(403, 403, 404, 404)),
    Row(f"{VOICE}/renew", "POST", NOT_THERE_TO_CHANGE),
    Row(f"{VOICE}/unshare", "POST", NOT_THERE_TO_CHANGE),
    Row(f"{VOICE}/delete", "GET", NOT_THERE_TO_CHANGE),
    Row(f"{VOICE}/delete", "POST", NOT_THERE_TO_CHANGE),
    Row(f"{VOICE}/previews/1", "GET", tenant(503, 503, 503, 503)),
    Row("/console/alice/names", "GET", SHOWN),
    Row("/console/alice/names", "POST", tenant(403, 302, 302, 302)),
    Row(WORDS, "GET", SHOWN),
    Row(WORDS, "POST", tenant(403, 302, 302, 302), {"word": "SQL", "alias": "sequel"}),
    Row(f"{WORDS}.csv", "GET", SHOWN),
    Row(f"{WORDS}/0", "POST", NOT_THERE_TO_CHANGE),
    Row(f"{WORDS}/0/remove", "POST", NOT_THERE_TO_CHANGE),
    Row("/console/alice/consents", "GET", SHOWN),
    Row("/console/alice/consents/new", "GET", MANAGED),
    Row("/console/alice/consents/new", "POST", REFUSED),
    Row(CONSENT, "GET", NOT_THERE),
    Row(f"{CONSENT}/register.csv", "GET", NOT_THERE),
    Row(f"{CONSENT}/withdraw", "GET", NOT_THERE_TO_CHANGE),
    Row(f"{CONSENT}/withdraw", "POST", NOT_THERE_TO_CHANGE),
    Row(f"{CONSENT}/until", "POST", NOT_THERE_TO_CHANGE),
    Row(f"{CONSENT}/delete", "GET", NOT_THERE_TO_CHANGE),
    Row(f"{CONSENT}/delete", "POST", NOT_THERE_TO_CHANGE),
    Row(f"{CONSENT}/evidence", "GET", NOT_THERE_TO_CHANGE),
)
