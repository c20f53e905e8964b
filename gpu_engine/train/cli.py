"""`train`: from texts and speech to a checkpoint, stage by stage."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

from gpu_engine.train.commands import (
    aligner,
    checkpoint,
    codec,
    encode,
    parts,
    record,
    talker,
    texts,
    tiny,
    tokenizer,
)

STAGES = """\
The stages, in order:

  texts       from some sentences, very many that sound like text, with their phonemes
  tokenizer   learn a small BPE vocabulary and write the recipe folder of a tiny checkpoint
  codec       learn the 12.5 Hz codec from speech
  decoder     teach a finished codec's decoder more, for codes that stay what they are
  encode      turn speech into shards of codes, tokens and alignments
  talker      train Talker, Code Predictor and speaker encoder on shards, while they arrive
  export      join the trained parts into a checkpoint directory
  evaluate    let a checkpoint speak held-out sentences

  aligner     learn to tell when words are spoken
  record      keep what a corpus speaks as a folder of recordings

  tiny        codec to evaluate in one command, on however many GPUs there are
  follow      look in on it when it was detached
  pack        everything that such a run needs, in parts of one size
  unpack      the parts together again, elsewhere

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
    speech = (texts, tokenizer, codec, encode, talker, checkpoint)
    for command in (*speech, aligner, record, tiny, parts):
        command.add(stages)


def run(arguments: argparse.Namespace) -> int:
    started = time.monotonic()
    arguments.run(arguments)
    print(f"{arguments.stage} took {time.monotonic() - started:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
