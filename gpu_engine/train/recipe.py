"""The whole of a tiny checkpoint: codec, codes, Talker, checkpoint and what it sounds like.

Every stage is a process of its own (one a GPU where it pays) and leaves its result in a folder, so
that a recipe can be cut into several calls, each with a limit: what is done is not done again, and
a Talker that was paused goes on.
"""

from __future__ import annotations

import json
import os
import re
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpu_engine.train.crew import ENDED, Child, Crew, StageError
from gpu_engine.train.encode import DONE
from gpu_engine.train.store import finished

STAGES = ("codec", "encode", "talker", "export", "evaluate")
DECODER = "decoder"  # beside the others, where it is asked for
CLI = "gpu_engine.train.cli"
CORPUS = "gpu_engine.train.corpora.kokoro"
LAYOUTS = ("full", "streaming")
CUSTOM_VOICE, VOICE_DESIGN = "custom_voice", "voice_design"
SHARDS, AGAIN = "encode*.safetensors", "-again"  # of one call, and of the later ones
SLACK = 20.0  # seconds a stage may take to save after its training has ended
WAYS = ((), ("--no-compile",), ("--no-compile", "--no-capture"))


@dataclass(frozen=True, slots=True)
class Recipe:
    """`ranks`: processes that train together, 0 for one a GPU; `codec`: a codec that is used as it
    is; `kinds`: of checkpoint that are exported; `limit`: seconds for this call, 0 for as long as
    it takes; `reserve`: of them for export and evaluation; `finish`: let the Talker's schedule end
    with this call instead of pausing it; `speech_minutes`: how long speech is made beside the
    Talker; `…_gpus`: the numbers of those that a stage has, all unless given; `…_options`: further
    arguments of the stages."""

    teacher: Path
    texts: Path
    out: Path
    recipe: Path
    sentences: Path | None = None
    stages: tuple[str, ...] = STAGES
    gpus: int = 0
    ranks: int = 0
    limit: float = 0.0
    reserve: float = 60.0
    finish: bool = False
    minutes_codec: float = 9.0
    minutes_talker: float = 9.0
    minutes_decoder: float = 25.0
    speech_minutes: float = 4.5
    start_hours: float = 4.0
    room_hours: float = 400.0
    codec_hours: float = 3.0
    writers_per_gpu: int = 2
    codec: Path | None = None
    resume_codec: Path | None = None
    weights: Path | None = None
    count: int = 64
    kinds: tuple[str, ...] = (CUSTOM_VOICE,)
    set: tuple[str, ...] = ()
    codec_options: tuple[str, ...] = ()
    decoder_options: tuple[str, ...] = ()
    encode_options: tuple[str, ...] = ()
    talker_options: tuple[str, ...] = ()
    decoder_gpus: tuple[str, ...] = ()
    encode_gpus: tuple[str, ...] = ()
    talker_gpus: tuple[str, ...] = ()

    @property
    def device(self) -> str:
        return "cuda" if self.gpus else "cpu"

    @property
    def all_gpus(self) -> tuple[str, ...]:
        return tuple(map(str, range(self.gpus)))

    @property
    def writers(self) -> int:
        return max(1, len(self.encode_gpus or self.all_gpus) * self.writers_per_gpu)

    @property
    def instructed(self) -> bool:
        """Whether the presets are taught to do what they are told."""
        settings = dict(pair.split("=", 1) for pair in self.set)
        return float(settings.get("instructed", 0)) > 0

    @property
    def told_kinds(self) -> tuple[str, ...]:
        """Those that are exported and do what they are told."""
        told = (CUSTOM_VOICE,) if self.instructed else ()
        return tuple(kind for kind in self.kinds if kind in (*told, VOICE_DESIGN))

    def checkpoint(self, kind: str) -> Path:
        return self.out / ("checkpoint" if kind == CUSTOM_VOICE else kind)

    def folder(self, stage: str) -> Path:
        return self.codec if stage == "codec" and self.codec else self.out / stage

    def done(self, stage: str) -> bool:
        return (self.folder(stage) / "done").exists() or (stage == "codec" and bool(self.codec))


class Kitchen:
    """One call of a recipe."""

    def __init__(self, recipe: Recipe, crew: Crew) -> None:
        self.recipe, self.crew = recipe, crew
        self._started = time.time()
        limit = recipe.limit or 1e9
        self.end = self._started + limit
        self._beside: Child | None = None
        self._ready: Child | None = None  # a Talker that waits for speech
        self._ready_writers: list[Child] = []  # and those who wait for the codec
        self.seconds: dict[str, float] = {}  # that each stage took
        later = bool({"export", "evaluate"} & {*recipe.stages})
        self.train_end = self.end - (recipe.reserve if later else 0) - SLACK

    def cook(self) -> None:
        """Raises StageError when a stage fails or finds no time."""
        steps: dict[str, Callable[[], None]] = {
            "codec": self.codec,
            DECODER: self.decoder,
            "encode": self.encode,
            "talker": self.talker,
            "export": self.export,
            "evaluate": self.evaluate,
        }
        for stage in self.recipe.stages:
            if stage == "encode" and "talker" in self.recipe.stages:
                continue  # they work side by side
            done = self.recipe.done(stage)
            self.say(f"{stage} {'was done before' if done else 'begins'}")
            started = time.time()
            if not done:
                steps[stage]()
            self.seconds[stage] = time.time() - started
        self._decoder_end()

    def say(self, text: str) -> None:
        print(f"{time.time() - self._started:4.0f} s: {text}", flush=True)

    # The stages.

    def codec(self) -> None:
        recipe, out = self.recipe, self.recipe.folder("codec")
        command = ["codec", *self._corpus("codec_speech"), "--out", str(out)]
        command += ["--hours", str(recipe.codec_hours), "--minutes", str(recipe.minutes_codec)]
        if recipe.limit:
            command += ["--deadline", str(self.train_end)]
        if recipe.resume_codec:
            command += ["--resume", str(recipe.resume_codec)]
        child = self._ranks("codec", [*command, "--again", *recipe.codec_options], recipe.all_gpus)
        self._get_ready()
        status = self.crew.wait(child, self.train_end + SLACK)
        self._expect(child, status, out / "codec-00.safetensors")
        (out / "done").touch()

    def _get_ready(self) -> None:
        """While the codec still learns, the Talker compiles and who makes speech loads."""
        recipe = self.recipe
        if not {"encode", "talker"} <= {*recipe.stages} or recipe.done("talker"):
            return
        self._ready_writers = self._writers(recipe.folder("codec") / "done")
        self._ready = self._learner(())

    def decoder(self) -> None:
        """The decoder of `codec` goes on learning while the other stages work: their codes stay."""
        recipe, out = self.recipe, self.recipe.folder(DECODER)
        if not recipe.done("codec"):
            raise StageError("the decoder needs a codec: --codec, or the stage codec before it")
        saved = (out / "model.safetensors").exists()
        if saved:
            self.say("the decoder goes on from its last save")
        command = [DECODER, *self._corpus("codec_speech"), "--out", str(out)]
        command += ["--codec", str(out if saved else recipe.folder("codec"))]
        command += ["--hours", str(recipe.codec_hours)]
        command += ["--minutes", str(recipe.minutes_decoder)]
        if recipe.limit:
            command += ["--deadline", str(self.train_end)]
        gpus = recipe.decoder_gpus or recipe.all_gpus
        self._beside = self._ranks(DECODER, [*command, *recipe.decoder_options], gpus)

    def _decoder_end(self) -> None:
        if self._beside is None:
            return
        out, beside = self.recipe.folder(DECODER), self._beside
        self._beside = None
        status = self.crew.wait(beside, self.train_end + SLACK)
        self._expect(beside, status, out / "model.safetensors")
        (out / "done").touch()

    def encode(self) -> None:
        """Speech to codes, without a Talker that waits for them."""
        for child in self._writers():
            self._expect(child, self.crew.wait(child, self.train_end))

    def talker(self) -> None:
        recipe, out = self.recipe, self.recipe.folder("talker")
        writers = self._ready_writers
        if not writers and "encode" in recipe.stages:
            writers = self._writers()
        for way in WAYS if recipe.gpus else WAYS[:1]:
            child, self._ready = self._ready or self._learner(way), None
            status = self._watch(child, writers)
            if status in (0, ENDED):
                break
            self.say(f"the Talker failed with {' '.join(way) or 'everything on'}\n{child.tail()}")
        self.crew.dismiss(writers)
        self._expect(child, status, out / "log.json")
        if self._spent() >= 0.999 * recipe.minutes_talker * 60 or recipe.finish:
            (out / "done").touch()
        else:
            self.say(f"paused after {self._spent():.0f} s of {recipe.minutes_talker * 60:.0f} s")

    def _learner(self, way: tuple[str, ...]) -> Child:
        recipe = self.recipe
        command = self._talker_command(recipe.folder("talker"))
        return self._ranks("talker", [*command, *way], recipe.talker_gpus or recipe.all_gpus)

    def export(self) -> None:
        """With the decoder that was taught beside the Talker, where there is one."""
        self._decoder_end()
        recipe = self.recipe
        codec = recipe.folder(DECODER if recipe.done(DECODER) else "codec")
        command = ["export", "--recipe", str(recipe.recipe), "--talker", str(recipe.out / "talker")]
        command += ["--codec", str(codec), *(["--instructed"] if recipe.instructed else [])]
        for kind in recipe.kinds:
            out = ["--kind", kind, "--out", str(recipe.checkpoint(kind))]
            self._alone(f"export-{kind}", [*command, *out])

    def evaluate(self) -> None:
        """Held-out sentences in both layouts, and whether what is told is done; `train evaluate`
        says what it leaves."""
        recipe = self.recipe
        if not recipe.sentences:
            return
        for layout in LAYOUTS if CUSTOM_VOICE in recipe.kinds else ():
            self._evaluate(layout, CUSTOM_VOICE, ["--layout", layout, "--count", str(recipe.count)])
        for kind in recipe.told_kinds:
            self._evaluate(kind, kind, ["--told", "--count", str(recipe.count)])

    def _evaluate(self, name: str, kind: str, options: list[str]) -> None:
        recipe = self.recipe
        command = ["evaluate", "--checkpoint", str(recipe.checkpoint(kind)), *options]
        command += ["--sentences", str(recipe.sentences), "--device", recipe.device]
        command += ["--batch", "64", "--out", str(recipe.out / "heard" / name)]
        self._alone(f"evaluate-{name}", command)

    # Their processes.

    def _corpus(self, function: str) -> Iterator[str]:
        recipe = self.recipe
        yield from ("--corpus", f"{CORPUS}:{function}", "--device", recipe.device)
        for setting in (f"teacher={recipe.teacher}", f"texts={recipe.texts}", *recipe.set):
            yield from ("--set", setting)

    def _ranks(self, name: str, command: Sequence[str], gpus: Sequence[str]) -> Child:
        """As many processes as train together, on these GPUs."""
        ranks = self.recipe.ranks or max(1, len(gpus))
        seen = {"CUDA_VISIBLE_DEVICES": ",".join(gpus)} if gpus else {}
        if ranks < 2:
            return self.crew.start(name, ["-m", CLI, *command], seen)
        launcher = ["-m", "torch.distributed.run", "--nproc-per-node", str(ranks)]
        launcher += ["--master-port", str(_free_port()), "-m", CLI]
        # More threads than cores wait for each other most of the time.
        threads = min(4, max(1, (os.cpu_count() or 1) // ranks))
        return self.crew.start(
            name, [*launcher, *command], {"OMP_NUM_THREADS": str(threads), **seen}
        )

    def _alone(self, name: str, command: Sequence[str]) -> None:
        child = self.crew.start(name, ["-m", CLI, *command])
        self._expect(child, self.crew.wait(child, self.end))

    def _writers(self, after: Path | None = None) -> list[Child]:
        """`after`: a file that they wait for."""
        recipe, codes = self.recipe, self.recipe.folder("codes")
        if finished(codes, recipe.writers):
            self.say("the codes are there")
            return []
        for stale in codes.glob(f"*.{DONE}"):
            stale.unlink()  # of those who were done when others were not
        calls, minutes = _calls(codes), recipe.speech_minutes - _minutes(codes)
        if calls:
            self.say(f"speech is made on, for {max(0.0, minutes):.1f} minutes")
        return [self._writer(n, calls, minutes, after) for n in range(recipe.writers)]

    def _writer(self, number: int, calls: int, minutes: float, after: Path | None) -> Child:
        """Each call's speech has files of its own, and other texts first."""
        recipe, codes = self.recipe, self.recipe.folder("codes")
        name = f"encode{number}" + (f"{AGAIN}{calls}" if calls else "")
        command = ["encode", *self._corpus("speech"), "--recipe", str(recipe.recipe)]
        command += ["--set", f"part={number}", "--set", f"parts={recipe.writers}"]
        command += ["--set", f"first={calls}", "--set", "passes=1000"]
        command += ["--codec", str(recipe.folder("codec")), "--out", str(codes), "--name", name]
        command += ["--minutes", str(minutes), "--deadline", str(self.train_end)]
        command += ["--after", str(after)] if after else []
        gpus = recipe.encode_gpus or recipe.all_gpus
        seen = {"CUDA_VISIBLE_DEVICES": gpus[number % len(gpus)]} if gpus else {}
        environment = {"OMP_NUM_THREADS": "2", **seen}
        command += recipe.encode_options
        return self.crew.start(name, ["-m", CLI, *command], environment)

    def _talker_command(self, out: Path) -> list[str]:
        recipe = self.recipe
        command = ["talker", "--recipe", str(recipe.recipe), "--codes", str(recipe.out / "codes")]
        command += ["--writers", str(recipe.writers), "--start-hours", str(recipe.start_hours)]
        command += ["--room-hours", str(recipe.room_hours), "--out", str(out)]
        command += ["--state", str(recipe.out / "state"), "--device", recipe.device]
        command += ["--minutes", str(recipe.minutes_talker)]
        if recipe.limit:
            command += ["--deadline" if recipe.finish else "--pause", str(self.train_end)]
        if recipe.weights:
            command += ["--weights", str(recipe.weights)]
        return [*command, *recipe.talker_options]

    def _watch(self, child: Child, writers: Sequence[Child]) -> int:
        """Waits for the Talker; a writer that failed no longer keeps it waiting."""
        codes, failed = self.recipe.folder("codes"), set[str]()

        def release() -> None:
            if self._beside is not None:
                self._beside.follow()
            for writer in writers:
                if writer.name not in failed and writer.process.poll():
                    failed.add(writer.name)
                    self.say(f"{writer.name} failed:\n{writer.tail()}")
                    codes.mkdir(parents=True, exist_ok=True)
                    (codes / f"{writer.name}.{DONE}").touch()

        return self.crew.wait(child, self.train_end + SLACK, release)

    def _expect(self, child: Child, status: int, saved: Path | None = None) -> None:
        """Who ran out of time but saved before has done enough."""
        in_time = status == ENDED and saved is not None and saved.exists()
        if status and not in_time:
            raise StageError(f"{child.name} ended with status {status}:\n{child.tail()}")

    def _spent(self) -> float:
        state = self.recipe.out / "state" / "state.json"
        return float(json.loads(state.read_text())["elapsed"]) if state.exists() else 0.0


def _calls(codes: Path) -> int:
    """How many calls have made speech in this folder."""
    found = (re.search(rf"{AGAIN}(\d+)-", path.name) for path in codes.glob(SHARDS))
    return max((int(each[1]) + 1 if each else 1 for each in found), default=0)


def _minutes(codes: Path) -> float:
    """That they made it for, as far as its files tell."""
    times: dict[str, list[float]] = {}
    for path in codes.glob(SHARDS):
        call = path.name.rpartition("-")[0].partition("-")[2]
        times.setdefault(call, []).append(path.stat().st_mtime)
    return sum(max(each) - min(each) for each in times.values()) / 60


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
