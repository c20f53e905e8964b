from django.apps import AppConfig


class SpeechConfig(AppConfig):
    name = "ttsapp.speech"
    verbose_name = "Speech"
