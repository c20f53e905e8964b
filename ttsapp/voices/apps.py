from django.apps import AppConfig


class VoicesConfig(AppConfig):
    name = "ttsapp.voices"
    label = "voices"
