from django.apps import AppConfig


class IdempotencyConfig(AppConfig):
    name = "ttsapp.idempotency"
    verbose_name = "Idempotency"
