"""ElevenLabs' premade voices, by kind: who names one is given a voice of ours of that kind."""

from __future__ import annotations

from ttsapp.errors import ApiError, voice_error
from ttsapp.voices.catalogue import SpeechModel, stand_ins
from ttsapp.voices.own import Preset

FEMALE = {
    "21m00Tcm4TlvDq8ikWAM": "Rachel",
    "9BWtsMINqrJLrRacOk9x": "Aria",
    "AZnzlk1XvdvUeBnXmlld": "Domi",
    "EXAVITQu4vr4xnSDxMaL": "Sarah",
    "FGY2WhTYpPnrIDTdsKH5": "Laura",
    "LcfcDJNUP1GQjkzn1xUU": "Emily",
    "MF3mGyEYCl7XYWbV9V6O": "Elli",
    "SAz9YHcvj6GT2YYXdXww": "River",
    "ThT5KcBeYPX3keUQqHPh": "Dorothy",
    "XB0fDUnXU5powFXDhCwa": "Charlotte",
    "Xb7hH8MSUJpSbSDYk0k2": "Alice",
    "XrExE9yKIg1WjnnlVkGX": "Matilda",
    "cgSgspJ2msm6clMCkdW9": "Jessica",
    "hpp4J3VqNfWAUOO0d1Us": "Bella",
    "jBpfuIE2acCO8z3wKNLl": "Gigi",
    "jsCqWAovK2LkecY7zXl4": "Freya",
    "oWAxZDx7w5VEj9dCyTzz": "Grace",
    "pFZP5JQG7iQjIQuC4Bku": "Lily",
    "pMsXgVXv3BLzUgSXRplE": "Serena",
    "piTKgcLEGmPE4e6mEKli": "Nicole",
    "z9fAnlkpzviPz146aGWa": "Glinda",
    "zrHiDhphv9ZnVXBqCLjz": "Mimi",
}
MALE = {
    "29vD33N1CtxCmqQRPOHJ": "Drew",
    "2EiwWnXFnvU5JabPnv8n": "Clyde",
    "5Q0t7uMcjvnagumLfvZi": "Paul",
    "CYw3kZ02Hs0563khs1Fj": "Dave",
    "CwhRBWXzGAHq8TQ4Fs17": "Roger",
    "D38z5RcWu1voky8WS1ja": "Fin",
    "ErXwobaYiN019PkySvjV": "Antoni",
    "GBv7mTt0atIp3Br8iCZE": "Thomas",
    "IKne3meq5aSn9XLyUdCD": "Charlie",
    "JBFqnCBsd6RMkjVDRZzb": "George",
    "N2lVS1w4EtoT3dr4eOWO": "Callum",
    "ODq5zmih8GrVes37Dizd": "Patrick",
    "SOYHLrjzK2X1ezoPC6cr": "Harry",
    "TX3LPaxmHKxFdv7VOQHJ": "Liam",
    "TxGEqnHWrfWFTfGW9XjX": "Josh",
    "VR6AewLTigWG4xSOukaG": "Arnold",
    "ZQe5CZNOzWyzPSCn5a3c": "James",
    "Zlb1dXrM653N07WRdFW3": "Joseph",
    "bIHbv24MWmeRgasZH58o": "Will",
    "bVMeCyTHy58xNoL34h3p": "Jeremy",
    "cjVigY5qzO86Huf0OWal": "Eric",
    "flq6f7yk4E4fJM5XTYuZ": "Michael",
    "g5CIjZEefAph4nQFvHAz": "Ethan",
    "iP95p4xoKVk53GoZ742B": "Chris",
    "nPczCjzI2devNBz1zQrb": "Brian",
    "onwK4e9ZLuTAKqWW03F9": "Daniel",
    "pNInz6obpgDQGcFmaJgB": "Adam",
    "pqHfZKP75CvOlQylNhV4": "Bill",
    "t0jbNlBVZ17f02VDIeMI": "Jessie",
    "wViXBPUzp2ZZixB1xQuM": "Ryan",
    "yoZ06aMxZJJ28mfd3POQ": "Sam",
    "zcAOhNBS3c14rBihAFp1": "Giovanni",
}
PREMADE = {**FEMALE, **MALE}
_IDS = {name.lower(): id for id, name in PREMADE.items()}


def preset(model: SpeechModel, wanted: str) -> Preset:
    """One of ours by its name, or the one that stands in. Raises ApiError 400 on `voice_id`."""
    if wanted.casefold() in model.own:
        return _preset(model, wanted)
    if own := own_preset(model, wanted):
        return own
    premade = premade_id(wanted)
    found = stand_in(model, premade) if premade else None
    if found is not None:
        return found
    return _preset(model, wanted)


def _preset(model: SpeechModel, wanted: str) -> Preset:
    try:
        return model.preset(wanted)
    except ApiError as error:
        raise voice_error(error, "voice_id") from None


def own_preset(model: SpeechModel, wanted: str) -> Preset | None:
    folded = wanted.casefold()
    return next((each for each in model.presets if each.name.casefold() == folded), None)


def premade_id(wanted: str) -> str | None:
    """The id of a premade voice that is named by its id or its name."""
    return wanted if wanted in PREMADE else _IDS.get(wanted.casefold())


def stand_in(model: SpeechModel, premade: str) -> Preset | None:
    return stand_ins(model, tuple(FEMALE), tuple(MALE)).get(premade)
