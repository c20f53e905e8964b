"""A voice from a description: spoken once by the checkpoint that invents voices, then kept by what
it sounded like, so that it is the same ever after."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from ttsapp.audit.services import Actor
from ttsapp.errors import ApiError, invalid
from ttsapp.http import request_id
from ttsapp.keys.authentication import Caller
from ttsapp.speech import answers
from ttsapp.speech.encoders.samples import SAMPLE_RATE, from_pcm
from ttsapp.speech.order import Order, check_instructions, fresh_seed
from ttsapp.speech.session import Session
from ttsapp.tenants.models import Tenant
from ttsapp.voices import selectors
from ttsapp.voices.clips.checks import Reference, Window
from ttsapp.voices.models import Kind, Voice
from ttsapp.voices.own import DescribedVoice
from ttsapp.voices.sentences import sentences
from ttsapp.voices.services import cloning
from ttsapp.voices.services.registry import Description

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
    if describer is None or maker is None:
        kind = "voice_design" if describer is None else "base"
        message = f"No engine here can design voices: a checkpoint of kind {kind} is needed."
        raise ApiError(400, "design_not_served", message)
    await cloning.check_place(tenant, said.name)
    text = sentences(said.language)[0]
    order = Order(
        id=request_id(),
        caller=caller,
        transport="design",
        model=describer,
        voice=DescribedVoice("(described)", said.language, prompt),
        response_format="pcm",
        language=said.language,
        instructions=prompt,
        seed=fresh_seed(),
        whole=True,
    )
    reference = await asyncio.to_thread(_reference, await answers.file(Session(order, text)))
    encoded = await cloning.encode(maker, reference, text)
    described = replace(said, description=said.description or prompt[:1000])
    return await cloning.keep(actor, tenant, Kind.DESIGNED, described, encoded, None)


def _reference(pcm: bytes) -> Reference:
    samples = from_pcm(pcm)
    if len(samples) < LEAST_SECONDS * SAMPLE_RATE:
        message = "The voice said too little to be kept: try again, or describe it otherwise."
        raise ApiError(503, "no_audio", message, retry_after_ms=0)
    return Reference(samples, Window(0, len(samples)), {"notes": []})
