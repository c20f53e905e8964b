"""`train`: from texts and speech to a checkpoint, stage by stage."""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

import torch
from torch import Tensor

from gpu_engine.train.codec import CodecRecipe, train_codec
from gpu_engine.train.codec_data import LABEL_SAMPLES
from gpu_engine.train.corpus import open_corpus
from gpu_engine.train.encode import Spellings, encode_corpus, write_shards
from gpu_engine.train.evaluate import Listening, evaluate
from gpu_engine.train.export import export_checkpoint, load_codec
from gpu_engine.train.feed import BatchShape
from gpu_engine.train.objective import Weights
from gpu_engine.train.runtime import World, join_world
from gpu_engine.train.talker import Settings
from gpu_engine.train.talker_run import Run, train_talker

ASSETS = Path(__file__).parent.parent / "assets" / "tiny"
STAGES = """\
The stages, in order:

  tokenizer   learn a small BPE vocabulary and write the recipe folder of a tiny checkpoint
  codec       learn the 12.5 Hz codec from speech
  encode      turn speech into shards of codes, tokens and alignments
  talker      train Talker, Code Predictor and speaker encoder on shards, while they arrive
  export      join the trained parts into a checkpoint directory
  evaluate    let a checkpoint speak held-out sentences

A corpus is a folder (manifest.jsonl and WAV files) or module:function, a Python function that
yields batches of speech; docs/training.md shows both."""


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="gpu_engine train")
    add_arguments(parser)
    return run(parser.parse_args(argv))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """One subcommand a stage."""
    parser.description = STAGES
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    stages = parser.add_subparsers(dest="stage", required=True, metavar="STAGE")
    for add in (_tokenizer, _codec, _encode, _talker, _export, _evaluate):
        add(stages)


def run(arguments: argparse.Namespace) -> int:
    started = time.monotonic()
    arguments.run(arguments)
    print(f"{arguments.stage} took {time.monotonic() - started:.0f} s", flush=True)
    return 0


Stages = "argparse._SubParsersAction[argparse.ArgumentParser]"


def _stage(stages: Stages, name: str, about: str) -> argparse.ArgumentParser:  # type: ignore[valid-type]
    made: argparse.ArgumentParser = stages.add_parser(  # type: ignore[attr-defined]
        name,
        help=about,
        description=about,
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    return made


def _with_corpus(stage: argparse.ArgumentParser) -> None:
    stage.add_argument("--corpus", required=True, help="a folder, or module:function")
    stage.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of the corpus"
    )


def _settings(pairs: list[str]) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in pairs)


# tokenizer


def _tokenizer(stages: Stages) -> None:  # type: ignore[valid-type]
    stage = _stage(stages, "tokenizer", "learn a vocabulary; write it with the configuration files")
    stage.add_argument(
        "texts", type=Path, help="plain lines, or JSON lines with `text`; may be .gz"
    )
    stage.add_argument("--out", type=Path, required=True, help="the recipe folder")
    stage.add_argument("--size", type=int, default=1536, help="entries, added tokens included")
    stage.set_defaults(run=_run_tokenizer)


def _run_tokenizer(args: argparse.Namespace) -> None:
    from gpu_engine.train.tiny import write_configs
    from gpu_engine.train.tokenizer import train_bpe, write_tokenizer

    texts = list(read_texts(args.texts))
    ids = write_tokenizer(train_bpe(texts, args.size), args.out)
    write_configs(args.out, ids)
    (canonical,) = Spellings.of(args.out, variants=1).tokenizers
    tokens = sum(len(encoding.ids) for encoding in canonical.encode_batch(texts))
    print(f"{len(texts)} texts, {sum(map(len, texts)) / max(1, tokens):.2f} characters a token")


def read_texts(path: Path) -> Iterator[str]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        for line in map(str.strip, file):
            if line:
                yield json.loads(line)["text"] if line.startswith("{") else line


# codec


def _codec(stages: Stages) -> None:  # type: ignore[valid-type]
    stage = _stage(stages, "codec", "learn the 12.5 Hz codec from speech")
    _with_corpus(stage)
    stage.add_argument("--out", type=Path, required=True)
    stage.add_argument("--hours", type=float, default=8.0, help="of speech to keep on the device")
    stage.add_argument("--minutes", type=float, default=9.0, help="of training")
    stage.add_argument("--resume", type=Path, help="folder of an earlier run")
    stage.add_argument("--device", default="auto")
    stage.set_defaults(run=_run_codec)


@dataclass(frozen=True, slots=True)
class Labelled:
    """Speech with a phone label every 25 ms; all silence where the corpus knows no phones."""

    audio: Tensor
    phones: Tensor


def _run_codec(args: argparse.Namespace) -> None:
    world = join_world(args.device)
    recipe = replace(CodecRecipe(), seconds=args.minutes * 60)
    speech = _labelled(args.corpus, world, _settings(args.set))
    train_codec(speech, args.hours, recipe, world, args.out, args.resume)


def _labelled(name: str, world: World, settings: dict[str, str]) -> Iterator[Labelled]:
    for batch in open_corpus(name, world.device, settings):
        phones = getattr(batch, "phones", None)
        audio = batch.audio[:, : batch.audio.shape[1] // LABEL_SAMPLES * LABEL_SAMPLES]
        if phones is None:
            shape = len(audio), audio.shape[1] // LABEL_SAMPLES
            phones = torch.zeros(shape, dtype=torch.int64, device=audio.device)
        yield Labelled(audio, phones)


# encode


def _encode(stages: Stages) -> None:  # type: ignore[valid-type]
    stage = _stage(stages, "encode", "turn speech into shards of codes, tokens and alignments")
    _with_corpus(stage)
    stage.add_argument("--recipe", type=Path, default=ASSETS, help="folder with the tokenizer")
    stage.add_argument("--codec", type=Path, required=True, help="a trained codec's folder")
    stage.add_argument("--out", type=Path, required=True, help="folder for the shards")
    stage.add_argument("--name", default="codes", help="of this writer's shards")
    stage.add_argument("--size", type=int, default=1000, help="utterances in a shard")
    stage.add_argument("--device", default="auto")
    stage.set_defaults(run=_run_encode)


def _run_encode(args: argparse.Namespace) -> None:
    from gpu_engine.models.speaker import log_mel

    device = join_world(args.device).device
    torch.backends.cudnn.benchmark = False  # every length is another shape, and would be tuned anew
    encoder = load_codec(args.codec)[0].to(device)
    corpus = open_corpus(args.corpus, device, _settings(args.set))
    shards = encode_corpus(corpus, encoder.encode, log_mel, Spellings.of(args.recipe), args.size)
    started, hours = time.monotonic(), 0.0
    for shard in write_shards(shards, args.out, args.name):
        hours += sum(map(len, shard.codes)) * 0.08 / 3600
        spent = time.monotonic() - started
        print(f"{args.name}: {hours:.2f} h of speech after {spent:.0f} s", flush=True)


# talker


def _talker(stages: Stages) -> None:  # type: ignore[valid-type]
    stage = _stage(stages, "talker", "train Talker, Code Predictor and speaker encoder on shards")
    stage.add_argument("--recipe", type=Path, default=ASSETS, help="folder with configuration")
    stage.add_argument("--codes", type=Path, required=True, help="folder that shards arrive in")
    stage.add_argument("--writers", type=int, default=1, help="processes that write shards")
    stage.add_argument("--start-hours", type=float, default=1.0, help="of speech to begin with")
    stage.add_argument("--out", type=Path, required=True, help="weights, log.json, curves.png")
    stage.add_argument("--state", type=Path, help="folder to resume from and to save all state to")
    stage.add_argument("--weights", type=Path, help="start from an earlier run's weights")
    stage.add_argument("--minutes", type=float, default=9.0, help="of training")
    stage.add_argument("--deadline", type=float, default=0.0, help="Unix time to end by")
    stage.add_argument("--steps", type=int, default=0, help="instead of minutes")
    stage.add_argument("--rate", type=float, default=2e-3, help="highest learning rate")
    stage.add_argument("--rows", type=int, default=64, help="packed rows a step")
    stage.add_argument("--length", type=int, default=384, help="positions in a row")
    stage.add_argument("--predictor-frames", type=int, default=6144, help="it learns from a step")
    stage.add_argument("--dropout", type=float, default=0.05)
    stage.add_argument("--seed", type=int, default=1)
    stage.add_argument("--save-seconds", type=float, default=120.0, help="between saves")
    stage.add_argument("--report-steps", type=int, default=100)
    stage.add_argument("--validate-steps", type=int, default=1000)
    stage.add_argument("--no-speaker", action="store_true", help="leave the speaker encoder out")
    stage.add_argument("--no-compile", action="store_true", help="plain kernels")
    stage.add_argument("--no-capture", action="store_true", help="no CUDA graph")
    stage.add_argument("--device", default="auto")
    stage.set_defaults(run=_run_talker)


def _run_talker(args: argparse.Namespace) -> None:
    settings = Settings(
        seconds=args.minutes * 60,
        steps=args.steps,
        rate=args.rate,
        shape=BatchShape(args.rows, args.length, args.seed),
        seed=args.seed,
        capture=not args.no_capture,
        compile=not args.no_compile,
        weights=replace(Weights(), predictor_frames=args.predictor_frames, dropout=args.dropout),
    )
    names = [field.name for field in fields(Run) if field.name != "speaker"]
    chosen = {name: getattr(args, name) for name in names}
    run = Run(**chosen, speaker=not args.no_speaker)
    train_talker(run, settings, join_world(args.device))


# export and evaluate


def _export(stages: Stages) -> None:  # type: ignore[valid-type]
    stage = _stage(stages, "export", "join the trained parts into a checkpoint directory")
    stage.add_argument("--recipe", type=Path, default=ASSETS)
    stage.add_argument("--talker", type=Path, required=True, help="a Talker run's folder")
    stage.add_argument("--codec", type=Path, required=True, help="a trained codec's folder")
    stage.add_argument("--kind", choices=["custom_voice", "base"], default="custom_voice")
    stage.add_argument("--out", type=Path, required=True)
    stage.set_defaults(run=_run_export)


def _run_export(args: argparse.Namespace) -> None:
    export_checkpoint(args.recipe, args.talker, args.codec, args.out, args.kind)
    size = sum(file.stat().st_size for file in args.out.rglob("*") if file.is_file())
    print(f"{args.out}: {size / 2**20:.1f} MiB")


def _evaluate(stages: Stages) -> None:  # type: ignore[valid-type]
    stage = _stage(stages, "evaluate", "let a checkpoint speak held-out sentences")
    stage.add_argument("--checkpoint", type=Path, required=True)
    stage.add_argument("--sentences", type=Path, required=True, help="one a line; a tab ends it")
    stage.add_argument("--out", type=Path, required=True, help="for WAV files and transcript.tsv")
    stage.add_argument("--count", type=int, help="only so many, spread over the file")
    stage.add_argument("--voices", nargs="*", default=[], help="in turns; all presets if none")
    stage.add_argument("--layout", choices=["full", "streaming"], default="full")
    stage.add_argument("--language", default="english")
    stage.add_argument("--greedy", action="store_true")
    stage.add_argument("--temperature", type=float)
    stage.add_argument("--subtalker-temperature", type=float)
    stage.add_argument("--top-k", type=int)
    stage.add_argument("--repetition-penalty", type=float)
    stage.add_argument("--seed", type=int, default=1)
    stage.add_argument("--batch", type=int, default=16)
    stage.add_argument("--device", default="cpu")
    stage.set_defaults(run=_run_evaluate)


def _run_evaluate(args: argparse.Namespace) -> None:
    how = Listening(
        voices=tuple(args.voices),
        layout=args.layout,
        language=args.language,
        greedy=args.greedy,
        temperature=args.temperature,
        subtalker_temperature=args.subtalker_temperature,
        top_k=args.top_k,
        repetition_penalty=args.repetition_penalty,
        seed=args.seed,
        batch=args.batch,
    )
    figures = evaluate(args.checkpoint, args.sentences, args.out, how, args.device, args.count)
    print(json.dumps(figures))


if __name__ == "__main__":
    raise SystemExit(main())
