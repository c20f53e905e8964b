from django.apps import AppConfig


class AuditConfig(AppConfig):
    name = "ttsapp.audit"
    verbose_name = "Audit"
