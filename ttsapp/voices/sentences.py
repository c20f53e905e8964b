# ruff: noqa: RUF001  the marks and letters of every script are meant
"""What voices say when they are tried: three sentences in each language."""

from __future__ import annotations

from ttsapp.speech.text.languages import AUTO

_SENTENCES: dict[str, tuple[str, str, str]] = {
    "chinese": (
        "您好，很高兴能用这个声音为您服务。",
        "明天上午十点，我们在老地方见面，好吗？",
        "山里的风很凉，远处传来了孩子们的笑声。",
    ),
    "english": (
        "Hello, and thank you for calling. How can I help you today?",
        "The train to the coast leaves at nine, so we still have time for a coffee.",
        "Far above the valley, the last light turned the snow to copper.",
    ),
    "french": (
        "Bonjour et merci de votre appel. Que puis-je faire pour vous ?",
        "Le train pour la côte part à neuf heures, nous avons encore le temps.",
        "Au-dessus de la vallée, la neige prenait la couleur du cuivre.",
    ),
    "german": (
        "Guten Tag und danke für Ihren Anruf. Was kann ich für Sie tun?",
        "Der Zug an die Küste fährt um neun, wir haben also noch Zeit.",
        "Hoch über dem Tal färbte das letzte Licht den Schnee wie Kupfer.",
    ),
    "italian": (
        "Buongiorno e grazie per la chiamata. Come posso aiutarla?",
        "Il treno per la costa parte alle nove, abbiamo ancora tempo.",
        "Sopra la valle, l'ultima luce tingeva la neve di rame.",
    ),
    "japanese": (
        "お電話ありがとうございます。ご用件をお聞かせください。",
        "海へ行く電車は九時に出ますから、まだ時間があります。",
        "谷のはるか上で、最後の光が雪を銅色に染めていました。",
    ),
    "korean": (
        "안녕하세요, 전화 주셔서 감사합니다. 무엇을 도와드릴까요?",
        "바다로 가는 기차는 아홉 시에 떠나니 아직 시간이 있어요.",
        "골짜기 위로 마지막 빛이 눈을 구릿빛으로 물들였습니다.",
    ),
    "portuguese": (
        "Olá e obrigado pela sua chamada. Como posso ajudar?",
        "O trem para o litoral sai às nove, ainda temos tempo para um café.",
        "Muito acima do vale, a última luz tingia a neve de cobre.",
    ),
    "russian": (
        "Здравствуйте, спасибо за звонок. Чем могу помочь?",
        "Поезд к морю уходит в девять, так что у нас ещё есть время.",
        "Высоко над долиной последний свет окрасил снег в цвет меди.",
    ),
    "spanish": (
        "Hola y gracias por llamar. ¿En qué puedo ayudarle?",
        "El tren a la costa sale a las nueve, así que aún hay tiempo.",
        "Muy por encima del valle, la última luz volvía la nieve de cobre.",
    ),
}
PREVIEWS = 3
LANGUAGES = tuple(_SENTENCES)


def sentences(language: str) -> tuple[str, str, str]:
    """In the engine's language of that name; in English where none is set."""
    return _SENTENCES["english" if language == AUTO else language]
