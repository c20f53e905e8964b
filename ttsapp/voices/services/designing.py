"""A voice from a description: spoken once by the checkpoint that invents voices, then kept by what
it sounded like, so that it is the same ever after."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from gpu_engine.proto import engine_pb2
from ttsapp.audit.services import Actor
from ttsapp.errors import ApiError, invalid
from ttsapp.http import request_id
from ttsapp.keys.authentication import Caller
from ttsapp.speech import answers
from ttsapp.speech.encoders.samples import SAMPLE_RATE, from_pcm
from ttsapp.speech.order import Order, check_instructions, fresh_seed
from ttsapp.speech.session import Session
from ttsapp.tenants.models import Tenant
from ttsapp.voices import previews, selectors
from ttsapp.voices.catalogue import SpeechModel, away
from ttsapp.voices.clips.checks import Reference, Window
from ttsapp.voices.kinds import DESCRIBED
from ttsapp.voices.models import Kind, Voice
from ttsapp.voices.own import DescribedVoice
from ttsapp.voices.sentences import sentences
from ttsapp.voices.services import cloning, encoding
from ttsapp.voices.services.registry import Description, Encoded
from ttsapp.voices.storage import Blob

LEAST_SECONDS = 1.0


async def design(
    actor: Actor, caller: Caller, tenant: Tenant, said: Description, prompt: str
) -> Voice:
    """Charged like any request for the sentence that is spoken. Raises ApiError."""
    if not prompt.strip():
        raise invalid("prompt is empty: describe the voice.", "prompt", "missing_field")
    check_instructions(prompt)
    served = await selectors.catalogue()
    describer, maker = served.describer(), served.maker(in_context=True)
    if (describer is None or maker is None) and served.lacks_some:
        raise away(None)
    if describer is None or maker is None:
        kind = "voice_design" if describer is None else "base"
        message = f"No engine here can design voices: a checkpoint of kind {kind} is needed."
        raise ApiError(400, "design_not_served", message)
    for model in (describer, maker):
        model.language(said.language)
    await cloning.check_place(tenant, said.name)
    text = sentences(said.language)[0]
    order = Order(
        id=request_id(),
        caller=caller,
        transport="design",
        model=describer,
        voice=DescribedVoice(DESCRIBED, said.language, prompt),
        response_format="pcm",
        language=said.language,
        instructions=prompt,
        seed=fresh_seed(),
        whole=True,
    )
    reference = await asyncio.to_thread(_reference, await answers.file(Session(order, text)))
    encoded = await _encoded(maker, reference, text, said.language)
    described = replace(said, description=said.description or prompt[:1000])
    return await cloning.keep(actor, tenant, Kind.DESIGNED, described, encoded, None)


async def _encoded(maker: SpeechModel, reference: Reference, text: str, language: str) -> Encoded:
    """By its manner too, where it can be spoken with. It cannot be where what was heard is not
    quite its text, which nobody else has said: then by its timbre alone."""
    for words in (text, ""):
        encoded = await _heard(maker, reference, words)
        artifact = encoded.contents[Blob.ARTIFACT, encoded.artifact]
        voice = engine_pb2.Voice(artifact=engine_pb2.Artifact(data=artifact))
        try:
            await previews.spoken(maker, voice, sentences(language)[1], language, "design")
        except ApiError as error:
            if error.code != "no_audio":
                raise
        else:
            return encoded
    raise _no_sound()


async def _heard(maker: SpeechModel, reference: Reference, words: str) -> Encoded:
    try:
        return await encoding.encode(maker, reference, words)
    except ApiError as error:
        if error.status < 500:
            # Nobody sent what the engine will not hear: the voice made it.
            raise _no_sound() from None
        raise


def _reference(pcm: bytes) -> Reference:
    samples = from_pcm(pcm)
    if len(samples) < LEAST_SECONDS * SAMPLE_RATE:
        raise _no_sound()
    return Reference(samples, Window(0, len(samples)), {"notes": []})


def _no_sound() -> ApiError:
    message = "The voice said too little to be kept: try again, or describe it otherwise."
    return ApiError(503, "no_audio", message, retry_after_ms=0)
