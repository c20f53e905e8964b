"""`python -m ttsapp.launch COMMAND`: run the product, or show it, or work beside it."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from ttsapp.launch.demo import demo
from ttsapp.launch.errors import LaunchError, Stopped
from ttsapp.launch.plan import ROOT, Plan, free_port
from ttsapp.launch.product import TEMPORARY, Product, remove_abandoned
from ttsapp.launch.signals import Signals
from ttsapp.launch.welcome import facts, welcome

FAILED, STOPPED = 1, 130


def main(argv: list[str]) -> int:
    """0 when all went well, 1 with a reason on standard error, 130 when told to stop."""
    arguments = parser().parse_args(argv)
    console = Console(highlight=False, soft_wrap=True)
    with Signals() as signals:
        try:
            status: int = arguments.act(arguments, signals, console)
        except LaunchError as error:
            Console(stderr=True, highlight=False, markup=False, soft_wrap=True).print(
                f"parlance: {error}"
            )
            return FAILED
        except Stopped:
            return STOPPED
    return status


def parser() -> argparse.ArgumentParser:
    main = argparse.ArgumentParser("python -m ttsapp.launch", description=__doc__)
    commands = main.add_subparsers(required=True, metavar="COMMAND")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--checkpoint", default=os.environ.get("PARLANCE_CHECKPOINT", ""))
    more = os.environ.get("PARLANCE_MORE_CHECKPOINTS", "")
    common.add_argument("--more-checkpoints", default=more, help="an engine each; commas between")
    common.add_argument("--device", default="auto", choices=["auto", "cpu", "cuda"])
    common.add_argument("--workers", type=_number(1, 256), default=1, help="web processes")

    run = commands.add_parser("run", parents=[common], help="until Ctrl-C")
    run.add_argument("--host", default="127.0.0.1")
    run.add_argument("--port", type=_number(0, 65535), default=8000, help="0: a free one")
    run.add_argument("--data", type=Path, default=os.environ.get("PARLANCE_DATA", ROOT / "var"))
    run.set_defaults(act=_run)

    show = commands.add_parser("demo", parents=[common], help="one text to a WAV file, checked")
    show.add_argument("--text", required=True)
    show.add_argument("--out", type=Path, required=True)
    show.add_argument("--voice", default="alloy")
    show.set_defaults(act=_demo)

    beside = commands.add_parser("with", parents=[common], help="a command beside a fresh product")
    beside.add_argument("--warm", action="store_true", help="start, stop, and start again first")
    beside.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND ...")
    beside.set_defaults(act=_with)
    return main


def _number(least: int, most: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if not text.isdecimal() or not least <= int(text) <= most:
            message = f"{text!r} is not a whole number from {least} to {most}"
            raise argparse.ArgumentTypeError(message)
        return int(text)

    return number


def _more_checkpoints(arguments: argparse.Namespace) -> tuple[str, ...]:
    """Raises LaunchError where one, or the first checkpoint, is no folder."""
    if arguments.checkpoint and not Path(arguments.checkpoint).is_dir():
        raise LaunchError(f"PARLANCE_CHECKPOINT={arguments.checkpoint} is not a folder.")
    found = [folder.strip() for folder in arguments.more_checkpoints.split(",")]
    more = tuple(folder for folder in found if folder)
    for folder in more:
        if not Path(folder).is_dir():
            raise LaunchError(f"PARLANCE_MORE_CHECKPOINTS: {folder} is not a folder.")
    return more


def _run(arguments: argparse.Namespace, signals: Signals, console: Console) -> int:
    more = _more_checkpoints(arguments)
    plan = Plan(
        arguments.data.resolve(),
        arguments.host,
        arguments.port or free_port(arguments.host),
        arguments.workers,
        arguments.checkpoint,
        more,
        arguments.device,
    )
    try:
        with _visibly(plan, signals, console) as product:
            console.print(welcome(plan, product.access, product.start_seconds))
            product.watch()
    except Stopped:
        console.print("Parlance has stopped.")
    return 0


def _demo(arguments: argparse.Namespace, signals: Signals, console: Console) -> int:
    if not arguments.text.strip():
        raise LaunchError('Say what to speak: make demo TEXT="Hello there." OUT=hello.wav')
    if arguments.out.suffix.lower() != ".wav":
        raise LaunchError(f"OUT={arguments.out} must end in .wav: that is what this writes.")
    if not arguments.out.resolve().parent.is_dir():
        raise LaunchError(f"{arguments.out.resolve().parent} is not a folder.")
    with _temporary(arguments) as plan, _visibly(plan, signals, console) as product:
        console.print(facts(demo(product, arguments.text, arguments.voice, arguments.out)))
    return 0


def _with(arguments: argparse.Namespace, signals: Signals, console: Console) -> int:
    """The command finds the product in PARLANCE_URL, PARLANCE_KEY and what _told adds to them."""
    command = arguments.command[arguments.command[:1] == ["--"] :]
    if not command or shutil.which(command[0]) is None:
        raise LaunchError(f"There is no command {' '.join(command)!r} to run beside the product.")
    with _temporary(arguments) as plan:
        if arguments.warm:
            with _visibly(plan, signals, console):
                pass
        with _visibly(plan, signals, console) as product:
            told = _told(product)
            if arguments.warm:
                told["PARLANCE_START_SECONDS"] = f"{product.start_seconds:.2f}"
            beside = subprocess.Popen(command, env={**os.environ, **told})
            try:
                while beside.poll() is None:
                    signals.wait(1.0)
            finally:
                beside.terminate()
                beside.wait()
            return beside.returncode


def _told(product: Product) -> dict[str, str]:
    return {
        "PARLANCE_URL": product.plan.url,
        "PARLANCE_KEY": product.access.key or "",
        "PARLANCE_USERNAME": product.access.username,
        "PARLANCE_PASSWORD": product.access.password or "",
        "PARLANCE_DATA": str(product.plan.data),
        "PARLANCE_ENGINE": ",".join(product.plan.engines),
    }


@contextmanager
def _temporary(arguments: argparse.Namespace) -> Iterator[Plan]:
    """A plan on a free port, with a data folder that goes away."""
    more = _more_checkpoints(arguments)
    remove_abandoned()
    with tempfile.TemporaryDirectory(prefix=TEMPORARY) as folder:
        yield Plan(
            Path(folder),
            port=free_port(),
            workers=arguments.workers,
            checkpoint=arguments.checkpoint,
            more_checkpoints=more,
            device=arguments.device,
            embedded=True,
        )


@contextmanager
def _visibly(plan: Plan, signals: Signals, console: Console) -> Iterator[Product]:
    """The product, with its start and its end told as they happen."""

    def tell(line: str) -> None:
        console.print(f"  {line}", markup=False)

    with console.status("starting engine, database and web server") as status:
        product = Product(plan, signals, tell)
        product.__enter__()
        status.stop()
        try:
            yield product
        finally:
            console.print("Stopping…")
            product.__exit__()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
