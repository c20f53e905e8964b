from django.apps import AppConfig


class AlertsConfig(AppConfig):
    name = "ttsapp.alerts"
    verbose_name = "Alerts"
