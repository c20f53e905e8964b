"""docs/benchmarks/speech/index.html: one file with the gates, tables, players and spectrograms."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.template import Context, Engine

from tests.speech.gates import percent
from tests.speech.listening import Recording, Sentence
from tests.speech.report import CONDITIONS
from tests.speech.sound import mp3, spectrogram

SHORT = {"teacher": "Teacher", "codec": "Codec", "full": "Full text", "streaming": "Streaming"}
HEARD = ("teacher", "codec", "full")  # those that a card plays
OF_A_KIND, WORST, CLONED = 2, 6, 5
VERDICTS = {True: ("holds", "yes"), False: ("does not hold", "no"), None: ("not judged", "open")}


def page(result: dict[str, Any], cloning: dict[str, Any] | None, teacher: Path, work: Path) -> str:
    folders = {"teacher": teacher, **{name: work / name for name in ("codec", "full", "streaming")}}
    missed = sum(gate["holds"] is False for gate in result["gates"])
    engine = Engine(dirs=[str(Path(__file__).parent)])
    return engine.get_template("page.html").render(
        Context(
            {
                "gates": list(_gates(result)),
                "held": str(sum(gate["holds"] is True for gate in result["gates"])),
                "missed": str(missed),
                "missed_verb": "does" if missed == 1 else "do",
                "open": str(sum(gate["holds"] is None for gate in result["gates"])),
                "heard": str(result["conditions"]["full"]["clips"]),
                "conditions": list(_conditions(result)),
                "kinds": list(_kinds(result)),
                "cards": list(_cards(result, folders)),
                "worst": list(_worst(result, folders)),
                "clones": list(_clones(cloning, teacher, work.parent)),
                "rows": list(_rows(result)),
                "cloning": _cloning(cloning),
                "facts": _facts(result),
            }
        )
    )


def _shown(rate: float | None) -> str:
    return "-" if rate is None else percent(rate)


def _gates(result: dict[str, Any]) -> Iterator[dict[str, str]]:
    for gate in result["gates"]:
        verdict, mark = VERDICTS[gate["holds"]]
        yield {**gate, "verdict": verdict, "mark": mark}


def _conditions(result: dict[str, Any]) -> Iterator[dict[str, str]]:
    for name, about in CONDITIONS.items():
        sums = result["conditions"][name]
        if sums["clips"]:
            yield {
                "name": about,
                "clips": str(sums["clips"]),
                "words": str(sums["words"]),
                "wer": _shown(sums["wer"]),
                "exact": f"{100 * sums['exact'] / sums['clips']:.0f} %",
                "wrong": str(sums["wrong_length"]),
                "dnsmos": "-" if sums["dnsmos"] is None else f"{sums['dnsmos']:.2f}",
                "rated": str(sums["rated"]),
            }


def _kinds(result: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for row in result["kinds"]:
        mistakes = [
            {"said": said or "(nothing)", "heard": heard or "(nothing)"}
            for said, heard in row["mistakes"]
        ]
        rates = [_shown(row[name]) for name in CONDITIONS]
        exact = f"{row['exact']}/{row['clips']}"
        yield {"kind": row["kind"], "rates": rates, "exact": exact, "mistakes": mistakes}


def _found(result: dict[str, Any], name: str) -> dict[int, dict[str, Any]]:
    return {clip["number"]: clip for clip in result["clips"][name]}


def _sound(clip: dict[str, Any], folder: Path, title: str) -> dict[str, str]:
    recording = Recording(Sentence(clip["text"], clip["expected"]), folder / _file(clip["number"]))
    return {
        "title": title,
        "who": clip["voice"] if "*" not in clip["voice"] else "unseen speaker",
        "heard": clip["heard"] or "(nothing)",
        "exact": "yes" if not clip["errors"] else "",
        "audio": mp3(recording),
        "picture": spectrogram(recording),
    }


def _file(number: int) -> str:
    return f"{number:03}.wav"


def _cards(result: dict[str, Any], folders: dict[str, Path]) -> Iterator[dict[str, Any]]:
    """The first sentences of each kind that every condition has: not chosen by ear."""
    found = {name: _found(result, name) for name in HEARD}
    common = [number for number in found["full"] if all(number in of for of in found.values())]
    count: dict[str, int] = {}
    for number in sorted(common or found["full"]):
        clip = found["full"][number]
        count[clip["kind"]] = count.get(clip["kind"], 0) + 1
        if count[clip["kind"]] <= OF_A_KIND:
            sounds = [
                _sound(found[name][number], folders[name], SHORT[name])
                for name in HEARD
                if number in found[name]
            ]
            yield {"text": clip["text"], "kind": clip["kind"], "sounds": sounds}


def _worst(result: dict[str, Any], folders: dict[str, Path]) -> Iterator[dict[str, Any]]:
    ranked = sorted(result["clips"]["full"], key=lambda clip: -clip["errors"])
    for clip in ranked[:WORST]:
        if clip["errors"]:
            sounds = [_sound(clip, folders["full"], SHORT["full"])]
            yield {"text": clip["text"], "kind": clip["kind"], "sounds": sounds}


def _rows(result: dict[str, Any]) -> Iterator[dict[str, str]]:
    streamed = _found(result, "streaming")
    for clip in sorted(result["clips"]["full"], key=lambda clip: clip["number"]):
        other = streamed.get(clip["number"])
        yield {
            "kind": clip["kind"],
            "voice": clip["voice"],
            "text": clip["text"],
            "heard": clip["heard"] if clip["errors"] else "",
            "errors": str(clip["errors"]),
            "streamed": "-" if other is None else str(other["errors"]),
            "seconds": f"{clip['seconds']:.1f}",
        }


def _clones(cloning: dict[str, Any] | None, teacher: Path, work: Path) -> Iterator[dict[str, Any]]:
    """The first sentence of every other speaker, cloned each way, beside its reference."""
    shown: dict[str, list[dict[str, Any]]] = {}
    for trial in (cloning or {}).get("rows", []):
        shown.setdefault(trial["speaker"], []).append(trial)
    for trials in list(shown.values())[::2][:CLONED]:
        folder = work / f"{(cloning or {})['checkpoint']}-clones"
        pair = [each for each in trials if each["text"] == trials[0]["text"]][:2]
        files = [teacher / trials[0]["reference"], *(folder / each["clip"] for each in pair)]
        if all(file.exists() for file in files):
            yield _clone(pair, files)


def _clone(pair: list[dict[str, Any]], files: list[Path]) -> dict[str, Any]:
    text = pair[0]["text"]
    titles = ["Reference", *(trial["way"] for trial in pair)]
    likeness = ["", *(f"likeness {trial['resemblyzer']['own']:.2f}" for trial in pair)]
    sounds = []
    for title, heard, file in zip(titles, likeness, files, strict=True):
        clip = Recording(Sentence(text, text), file)
        sounds.append(
            {"title": title, "heard": heard, "audio": mp3(clip), "picture": spectrogram(clip)}
        )
    return {"text": text, "kind": pair[0]["speaker"], "sounds": sounds}


def _cloning(cloning: dict[str, Any] | None) -> list[dict[str, str]]:
    if cloning is None:
        return []
    rows = []
    for way, of_way in cloning["ways"].items():
        for ears in ("resemblyzer", "encoder"):
            figures = of_way[ears]
            rows.append(
                {
                    "way": way,
                    "ears": {"resemblyzer": "Resemblyzer", "encoder": "own encoder"}[ears],
                    "trials": str(of_way["trials"]),
                    "own": f"{figures['own']:.3f}",
                    "low": f"{figures['own_p5']:.3f}",
                    "others": f"{figures['others']:.3f}",
                    "share": percent(figures["own_speaker_share"]),
                }
            )
    return rows


def _facts(result: dict[str, Any]) -> list[tuple[str, str]]:
    machine, sampling = result["machine"], result["sampling"]
    load = ", ".join(f"{each:g}" for each in machine["load_average"])
    drawn = "greedy" if not sampling["do_sample"] else f"temperature {sampling['temperature']:g}"
    return [
        ("checkpoint", result["checkpoint"]),
        ("spoken by", {"product": "the running product"}.get(result["by"], "the checkpoint alone")),
        ("first code", drawn),
        ("machine", f"{machine['processor']}, {machine['cores']} cores, load {load}"),
        ("at", f"{machine['at']}, commit {machine['commit']}"),
        ("again by", machine["command"]),
    ]
