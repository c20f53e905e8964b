"""Every setting, read from the environment; docs/admins.md explains each option."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

from ttsapp import environment, logs, mail
from ttsapp.accounts import settings as accounts
from ttsapp.databases import configuration

BASE_DIR = Path(__file__).resolve().parent.parent
DATA = environment.folder("PARLANCE_DATA", BASE_DIR / "var")

DEBUG = False
SECRET_KEY = environment.secret("PARLANCE_SECRET_KEY") or environment.kept_secret(
    DATA / "secret.key"
)
HTTPS = environment.flag("PARLANCE_HTTPS")
ALLOWED_HOSTS = [
    "localhost",
    "127.0.0.1",
    "[::1]",
    *environment.hosts("PARLANCE_ALLOWED_HOSTS"),
]

# Whose word about a client's address and protocol is believed. By default nobody's.
TRUSTED_PROXIES = environment.networks("PARLANCE_TRUSTED_PROXIES")

# The engines, one a checkpoint or replica, and what a request may ask of them.
ENGINES = environment.targets("PARLANCE_ENGINE", f"unix:{DATA / 'engine.sock'}")
MAX_INPUT_CHARACTERS = environment.number("PARLANCE_MAX_INPUT_CHARACTERS", 4096, most=100_000)
# Words of its own that a tenant may have pronounced otherwise.
LEXICON_WORDS = environment.number("PARLANCE_LEXICON_WORDS", 2000, most=100_000)
# Voices of its own that a tenant may have, and what a process keeps of them in memory (64 MB).
VOICES = environment.number("PARLANCE_VOICES", 500, most=10_000)
VOICE_CACHE_BYTES = environment.number("PARLANCE_VOICE_CACHE_BYTES", 64 * 1024 * 1024, most=2**40)
# Who has it may read the web processes' metrics; without one nobody may.
METRICS_TOKEN = environment.secret("PARLANCE_METRICS_TOKEN")
# What hears a clip's words, to compare them with its text: any server of OpenAI's transcriptions.
TRANSCRIPTION_URL = environment.web_address("PARLANCE_TRANSCRIPTION_URL")
TRANSCRIPTION_KEY = environment.text("PARLANCE_TRANSCRIPTION_KEY")
TRANSCRIPTION_MODEL = environment.text("PARLANCE_TRANSCRIPTION_MODEL", "whisper-1")
# Voices whose consent has ended are deleted so many days later.
ENDED_VOICE_DAYS = environment.number("PARLANCE_ENDED_VOICE_DAYS", 30, least=0, most=3650)
MAX_STREAM_SECONDS = environment.seconds("PARLANCE_MAX_STREAM_SECONDS", 600)
# Longest audio of an answer that is sent whole, and so held in memory until its end.
MAX_WHOLE_SECONDS = environment.seconds("PARLANCE_MAX_WHOLE_SECONDS", 900)
FIRST_AUDIO_SECONDS = environment.seconds("PARLANCE_FIRST_AUDIO_SECONDS", 30)
STALL_SECONDS = environment.seconds("PARLANCE_STALL_SECONDS", 30)
# A longer text is spoken in several engine streams, cut at sentences.
SEGMENT_CHARACTERS = environment.number("PARLANCE_SEGMENT_CHARACTERS", 150, least=20, most=10_000)
# Live text: how long a context waits for its first text, and for more of it.
FIRST_TEXT_SECONDS = environment.seconds("PARLANCE_FIRST_TEXT_SECONDS", 60)
TEXT_IDLE_SECONDS = environment.seconds("PARLANCE_TEXT_IDLE_SECONDS", 30)
SOCKET_IDLE_SECONDS = environment.seconds("PARLANCE_SOCKET_IDLE_SECONDS", 60)
# A reservation this old belongs to a process that died: no stream and no reader lasts so long,
# and a database that was away has been asked for some minutes more.
ORPHAN_SECONDS = MAX_STREAM_SECONDS + 300
# Answers to requests with an Idempotency-Key: how long, and how much of one and of a tenant's.
IDEMPOTENCY_HOURS = environment.number("PARLANCE_IDEMPOTENCY_HOURS", 24, most=720)
IDEMPOTENCY_BYTES = environment.number(
    "PARLANCE_IDEMPOTENCY_BYTES", 10_000_000, least=0, most=100_000_000
)
IDEMPOTENCY_TENANT_BYTES = environment.number(
    "PARLANCE_IDEMPOTENCY_TENANT_BYTES", 1_000_000_000, least=0, most=1_000_000_000_000
)

# A tenant without limits of its own has these; docs/limits.md says what they count.
TENANT_LIMITS = {
    "requests_per_minute": environment.number(
        "PARLANCE_REQUESTS_PER_MINUTE", 12_000, most=1_000_000_000
    ),
    "characters_per_minute": environment.number(
        "PARLANCE_CHARACTERS_PER_MINUTE", 3_000_000, most=1_000_000_000
    ),
    "concurrent_streams": environment.number("PARLANCE_CONCURRENT_STREAMS", 1000, most=1_000_000),
}

# What this installation's own costs are in, and what revenue is compared with them.
CURRENCY = environment.currency("PARLANCE_CURRENCY", "USD")
# A TrueType file for invoices, where names are in none of the scripts that they are printed in.
INVOICE_FONT = environment.file("PARLANCE_INVOICE_FONT")

# And so many open sockets, and texts that are spoken while they are written.
TENANT_SOCKETS = environment.number("PARLANCE_SOCKETS", 1000, most=1_000_000)
TENANT_LIVE_STREAMS = environment.number("PARLANCE_LIVE_STREAMS", 200, most=1_000_000)

# What a connection may take its time for, before a key is known and after.
HEAD_SECONDS = environment.seconds("PARLANCE_HEAD_SECONDS", 10)
BODY_SECONDS = environment.seconds("PARLANCE_BODY_SECONDS", 30)
DELIVERY_SECONDS = environment.seconds("PARLANCE_DELIVERY_SECONDS", 30)
# What open answers get when the process is to stop.
GRACE_SECONDS = environment.seconds("PARLANCE_GRACE_SECONDS", 10)

# 2 MB: the longest text that may be allowed, with every character written as an escape, fits.
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
FILE_UPLOAD_MAX_MEMORY_SIZE = DATA_UPLOAD_MAX_MEMORY_SIZE

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    *accounts.APPS,
    "ttsapp.audit",
    "ttsapp.alerts",
    "ttsapp.tenants",
    "ttsapp.keys",
    "ttsapp.speech",
    "ttsapp.lexicon",
    "ttsapp.idempotency",
    "ttsapp.voices",
    "ttsapp.console",
    "billing",
]

# For pages. The API passes the first alone, and so without a thread on the way to its audio.
MIDDLEWARE = [
    "ttsapp.middleware.RequestContext",
    "ttsapp.middleware.StaticFiles",
    "ttsapp.middleware.Security",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "ttsapp.middleware.Csrf",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
]

ROOT_URLCONF = "ttsapp.urls"
ASGI_APPLICATION = "ttsapp.asgi.application"
APPEND_SLASH = False
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "ttsapp.console.shell.person",
            ],
        },
    },
]

# The management API; the dialects have none of it on their way to audio.
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "ttsapp.api.authentication.KeyAuthentication",
        "ttsapp.api.authentication.PersonAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["ttsapp.api.parsing.JsonParser"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "ttsapp.api.negotiation.OneShape",
    "DEFAULT_SCHEMA_CLASS": "ttsapp.api.schema.Operation",
    "EXCEPTION_HANDLER": "ttsapp.api.refusals.handle",
    "URL_FORMAT_OVERRIDE": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Parlance management API",
    "DESCRIPTION": "What the console does, for programs: keys, usage, requests, pronunciations.",
    "VERSION": version("parlance"),
    "OAS_VERSION": "3.1.0",
    "SCHEMA_PATH_PREFIX": "/api/",
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "POSTPROCESSING_HOOKS": ["ttsapp.api.schema.add_problems"],
}

# Reads that somebody waits for, and as many threads again for writing the ledger behind them.
DATABASE_THREADS = environment.number("PARLANCE_DATABASE_THREADS", 4, most=256)
DATABASES = {"default": configuration(environment.text("DATABASE_URL"), DATA, DATABASE_THREADS)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = environment.url("REDIS_URL", ("redis", "rediss", "unix"))
# Codes of authenticator apps that were used a moment ago.
CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS_URL}
    if REDIS_URL
    else {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
}
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [REDIS_URL]},
    }
    if REDIS_URL
    else {"BACKEND": "channels.layers.InMemoryChannelLayer"},
}

CELERY_BROKER_URL = REDIS_URL or "folder://"
CELERY_TASK_ACKS_LATE = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_IGNORE_RESULT = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
if not REDIS_URL:
    _QUEUE = DATA / "queue"
    _CONTROL = DATA / "queue-control"
    _QUEUE.mkdir(parents=True, exist_ok=True)
    _CONTROL.mkdir(parents=True, exist_ok=True)
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "data_folder_in": str(_QUEUE),
        "data_folder_out": str(_QUEUE),
        "control_folder": str(_CONTROL),
    }

# "voices": recordings, artifacts, proofs of consent. Readable for the product's user alone.
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    "voices": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {
            "location": str(DATA / "voices"),
            "allow_overwrite": True,
            "file_permissions_mode": 0o600,
            "directory_permissions_mode": 0o700,
        },
    },
}

AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
# Who mails alerts; empty where nothing is mailed.
MAIL_URL = environment.mail_address("PARLANCE_MAIL_URL")
MAIL_FROM = environment.text("PARLANCE_MAIL_FROM", "parlance@localhost") if MAIL_URL else ""
EMAIL_BACKEND, EMAIL_HOST, EMAIL_PORT, EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = mail.server(MAIL_URL)
EMAIL_USE_TLS, EMAIL_USE_SSL = MAIL_URL.startswith("smtp+tls:"), MAIL_URL.startswith("smtps:")
EMAIL_TIMEOUT = 10
# Networks of one's own that webhooks may lead into, with http as well.
WEBHOOK_NETWORKS = environment.networks("PARLANCE_WEBHOOK_NETWORKS")

OIDC = accounts.oidc()
ACCOUNT_ADAPTER = "ttsapp.accounts.adapters.AccountAdapter"
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_FORMS = {"reauthenticate": "ttsapp.accounts.forms.ConfirmPasswordForm"}
ACCOUNT_LOGIN_METHODS = {"username"}
# Ours hold over all processes: ttsapp/accounts/attempts.py.
ACCOUNT_RATE_LIMITS = MFA_RATE_LIMITS = False
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*"]
MFA_ADAPTER = "ttsapp.accounts.adapters.MfaAdapter"
# An address is never proven here, and nobody signs in by one.
MFA_ALLOW_UNVERIFIED_EMAIL = True
MFA_FORMS = {
    "activate_totp": "ttsapp.accounts.forms.AddAppForm",
    "authenticate": "ttsapp.accounts.forms.CodeForm",
    "reauthenticate": "ttsapp.accounts.forms.ConfirmCodeForm",
}
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
# Phones' clocks are off by a few seconds.
MFA_TOTP_TOLERANCE = 1
# Browsers themselves offer passkeys to https and to this machine alone.
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = not HTTPS
SOCIALACCOUNT_ADAPTER = "ttsapp.accounts.adapters.OidcAdapter"
# Pages send forms to ourselves alone, redirects included; the state is checked on return.
SOCIALACCOUNT_LOGIN_ON_GET = True
SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": accounts.oidc_apps(OIDC)}}
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "console:home"
LOGOUT_REDIRECT_URL = "account_login"

SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 12 * 3600
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
CSRF_COOKIE_HTTPONLY = True
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
if HTTPS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en-us"
STATIC_URL = "/static/"
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = False

LOGGING_CONFIG = "ttsapp.logs.configure"
LOGGING = logs.configuration(environment.choice("PARLANCE_LOG_LEVEL", logs.LEVELS, "INFO"))
