import json
import wave
from collections import Counter
from threading import Thread

import numpy as np
import pytest
import torch
from safetensors import safe_open

from gpu_engine.models.tokenizer import TextTokenizer
from gpu_engine.train import encode
from gpu_engine.train.alignment import UNLABELLED
from gpu_engine.train.commands.encode import spoken_up, wait_for
from gpu_engine.train.corpus import SpeechBatch, Utterance, open_corpus, write_wav
from gpu_engine.train.encode import (
    FRAME,
    LEAD,
    REFERENCES,
    TAIL,
    WINDOW,
    Piece,
    Spellings,
    encode_corpus,
    spell,
    trim,
    write_shards,
)
from gpu_engine.train.store import DESCRIPTION_AT, INSTRUCTION_AT, CodeStore, finished

from .conftest import ROOM, TEXTS, micro_config


def tone(before, speech, after):
    """Silence, a loud tone, silence; in windows of 10 ms."""
    wave = 0.3 * torch.sin(torch.arange(speech * WINDOW) * 0.3)
    return torch.cat([torch.zeros(before * WINDOW), wave, torch.zeros(after * WINDOW)])


def level_codes(audio):
    """A codec that says how loud each frame is."""
    loud = audio.reshape(len(audio), -1, FRAME).abs().mean(2)
    return (loud * 1000).round().long()[:, None].expand(-1, 16, -1)


def mel(audio):
    return torch.zeros(len(audio), 24, 8)


def test_it_works(vocabulary, tmp_path):
    # given two clips with other silences around the same speech
    audio = torch.stack([tone(30, 80, 90), tone(50, 80, 70)])
    corpus = [SpeechBatch([Utterance(text, "clara") for text in TEXTS[:2]], audio)]
    # when they are encoded, written and read
    shards = encode_corpus(corpus, level_codes, None, Spellings.of(vocabulary))
    assert [len(shard) for shard in write_shards(shards, tmp_path)] == [2]
    store = CodeStore(("clara",), torch.device("cpu"), ROOM, bands=8)
    assert store.refresh(tmp_path) == 1
    # then both have the same codes, and their own text
    frames = -(-(LEAD + 80 + TAIL) * WINDOW // FRAME)
    assert store.rows[:, 1].tolist() == [frames] * 6
    assert torch.equal(store.codes[:frames], store.codes[frames : 2 * frames])
    canonical = Spellings.of(vocabulary).tokenizers[0]
    for number in range(2):
        line = store.rows[3 * number]
        ids = store.tokens[line[2] : line[2] + line[3]].tolist()
        assert ids == canonical.encode(TEXTS[number]).ids
    assert finished(tmp_path, 1)
    assert store.refresh(tmp_path) == 0


def test_trimming_keeps_a_breath_at_both_ends():
    trimmed = trim(torch.stack([tone(30, 80, 90), tone(0, 100, 100)]))
    assert trimmed.starts == pytest.approx([(30 - LEAD) * 0.01, 0.0])
    first = trimmed.audio[0]
    assert first[: LEAD * WINDOW].abs().max() == 0
    assert first[LEAD * WINDOW + 5].abs() > 0
    assert trimmed.frames == [14, 15]


def test_silence_has_no_frames():
    assert trim(torch.zeros(1, 100 * WINDOW)).frames == [0]


def test_word_times_follow_the_cut(vocabulary):
    words = np.array([[0, 3, 0.3, 0.7], [4, 9, 0.7, 1.1]], np.float32)
    batch = SpeechBatch([Utterance("The ferry", "clara", words)], tone(30, 80, 90)[None])
    spellings = Spellings.of(vocabulary, variants=1)
    (shard,) = encode_corpus([batch], level_codes, None, spellings)
    offsets = spellings.tokenizers[0].encode("The ferry").offsets
    # frame 0 is centred on 0.26 s: before the first word; frame 9 on 0.98 s: late in the second
    assert shard.targets[0][0].tolist() == [0, 0]
    assert shard.targets[0][9][1] == len(offsets) - 1


@pytest.mark.parametrize("apart", [False, True])
def test_a_speaker_also_says_two_texts_in_a_row(vocabulary, monkeypatch, apart):
    monkeypatch.setattr(encode, "APART", float(apart))
    # given two utterances of alice, of which the second says a number, with one of bob between
    first = np.array([[0, 3, 0.3, 0.7], [4, 9, 0.7, 1.1]], np.float32)
    second = np.array([[0, 4, 0.3, 0.7], [-1, -1, 0.7, 1.1]], np.float32)
    said = ("The ferry", "alice", first), ("No.", "bob", None), ("Gate 7", "alice", second)
    phones = np.arange(39, dtype=np.int16)
    spoken = [Utterance(*each, phones) for each in said]
    batch = SpeechBatch(spoken, tone(30, 80, 90).repeat(3, 1))
    spellings = Spellings.of(vocabulary, variants=1)
    # when all are joined to what the speaker said before
    (shard,) = encode_corpus([batch], level_codes, None, spellings, joined=1.0)
    assert shard.speakers == ["alice", "bob", "alice", "alice"]
    one, _, two, both = shard.codes
    assert torch.equal(both, torch.cat([one, two]))
    # then as one text, or, as a prompt for cloning in context has them, one behind the other
    texts = ("The ferry", "Gate 7") if apart else ("The ferry Gate 7",)
    ids, offsets = spell(spellings.tokenizers[0], texts)
    assert shard.tokens[3] == ids
    tokenizer = TextTokenizer(vocabulary, micro_config(vocabulary).text_ids)
    assert ids == [token for text in texts for token in tokenizer.encode(text)]
    np.testing.assert_array_equal(
        shard.phones[3], np.concatenate([shard.phones[0], shard.phones[2]])
    )
    # then every frame looks at the characters it looked at, those of the second further back
    alone = spellings.tokenizers[0].encode("Gate 7")
    pairs = zip(shard.targets[2].tolist(), shard.targets[3][len(one) :].tolist(), strict=True)
    for (low, high), (lower, higher) in pairs:
        assert (low < 0) == (lower < 0)
        if low >= 0:
            seen = {i + 10 - apart for a, b in alone.offsets[low : high + 1] for i in range(a, b)}
            now = {i for a, b in offsets[lower : higher + 1] for i in range(a, b)}
            assert seen & now
    np.testing.assert_array_equal(shard.targets[3][: len(one) - 4], shard.targets[0][:-4])


def said(words, **manner):
    return Utterance(words, "alice", **manner)


def test_instructions_and_descriptions_become_the_prompts_first_turn(vocabulary, tmp_path):
    # given one utterance with both, one with neither and one with a description
    told = {"instruction": "Speak slowly.", "description": "An old man."}
    spoken = [said("No.", **told), said("No."), said("No.", description="A child.")]
    batch = SpeechBatch(spoken, tone(30, 80, 90).repeat(3, 1))
    shards = encode_corpus([batch], level_codes, None, Spellings.of(vocabulary))
    list(write_shards(shards, tmp_path))
    store = CodeStore(("alice",), torch.device("cpu"), ROOM, bands=8)
    store.refresh(tmp_path)
    # then each has its own, in every spelling, as the prompt builder wraps it
    tokenizer = TextTokenizer(vocabulary, micro_config(vocabulary).text_ids)
    wanted = [(u.instruction, u.description) for u in spoken for _ in range(store.spellings)]
    for line, each in zip(store.rows.tolist(), wanted, strict=True):
        for at, text in ((INSTRUCTION_AT, each[0]), (DESCRIPTION_AT, each[1])):
            ids = store.tokens[line[at] : line[at] + line[at + 1]].tolist()
            assert ids == (tokenizer.wrap_instruction(text) if text else [])


def test_who_was_told_something_is_no_reference_and_joined_to_nobody(vocabulary):
    # given a speaker who is told something, and a voice without a name
    odd = [said("No.", instruction="Fast."), Utterance("No.", "", description="A man.")]
    batch = SpeechBatch(odd * 3, tone(10, 310, 30).repeat(6, 1))
    (shard,) = encode_corpus([batch], level_codes, mel, Spellings.of(vocabulary), joined=1.0)
    assert shard.references == []
    assert shard.speakers == ["alice", ""] * 3


@pytest.mark.parametrize("apart", [False, True])
def test_a_description_holds_for_the_longer_text(vocabulary, monkeypatch, apart):
    monkeypatch.setattr(encode, "APART", float(apart))
    spoken = [said("No.", description="A woman."), said("Gate 7", description="High voice.")]
    batch = SpeechBatch(spoken, tone(30, 80, 90).repeat(2, 1))
    spellings = Spellings.of(vocabulary, variants=1)
    (shard,) = encode_corpus([batch], level_codes, None, spellings, joined=1.0)
    assert shard.told[5] == ([] if apart else spellings.wrap("A woman."))


def test_what_is_joined_to_a_held_out_text_is_held_out():
    none = np.zeros((0, 2), np.int16)
    pieces = [Piece(("a",), "bob", torch.zeros(0, 16), none, None, held) for held in (False, True)]
    assert pieces[0].followed_by(pieces[1]).held
    assert pieces[1].followed_by(pieces[0]).held
    assert not pieces[0].followed_by(pieces[0]).held


def test_phones_follow_the_cut(vocabulary):
    # given a label every 25 ms that says when it is, and speech from 0.22 s on
    phones = np.arange(39, dtype=np.int16)
    utterance = Utterance("The ferry", "clara", None, phones)
    batch = SpeechBatch([utterance], tone(30, 80, 90)[None])
    (shard,) = encode_corpus([batch], level_codes, None, Spellings.of(vocabulary))
    # then frame 0 has those of 0.24 s and 0.28 s, and there are none after the last label
    assert shard.phones[0][0].tolist() == [9, 11]
    assert shard.phones[0][9].tolist() == [38, UNLABELLED]
    assert (shard.phones[0][10:] == UNLABELLED).all()


def test_speech_without_phones_is_unlabelled(vocabulary, tmp_path):
    batch = SpeechBatch([Utterance("No.", "clara")], tone(10, 50, 30)[None])
    (shard,) = encode_corpus([batch], level_codes, None, Spellings.of(vocabulary))
    assert (shard.phones[0] == UNLABELLED).all()


def test_each_speaker_has_so_many_references(vocabulary):
    batch = SpeechBatch([Utterance("No.", "mallory")] * 10, tone(10, 310, 30).repeat(10, 1))
    (shard,) = encode_corpus([batch], level_codes, mel, Spellings.of(vocabulary))
    assert Counter(name for name, _ in shard.references) == {"mallory": REFERENCES}


def test_short_recordings_are_no_references(vocabulary):
    batch = SpeechBatch([Utterance("No.", "mallory")], tone(10, 50, 30)[None])
    (shard,) = encode_corpus([batch], level_codes, mel, Spellings.of(vocabulary))
    assert shard.references == []


def test_a_corpus_can_speak_before_anybody_listens():
    spoken = []

    def corpus():
        for text in TEXTS:
            spoken.append(text)
            yield SpeechBatch([Utterance(text, "alice")], tone(10, 50, 30)[None])

    ready = spoken_up(corpus())
    assert spoken == [*TEXTS[:1]]
    assert [batch.utterances[0].text for batch in ready] == [*TEXTS]


def test_a_writer_waits_for_its_codec(tmp_path):
    waiting = Thread(target=wait_for, args=[tmp_path / "done"])
    waiting.start()
    assert waiting.is_alive()
    (tmp_path / "done").touch()
    waiting.join(60)
    assert not waiting.is_alive()


def test_shards_are_written_whole(vocabulary, tmp_path):
    batch = SpeechBatch([Utterance("No.", "alice")] * 5, tone(10, 50, 30).repeat(5, 1))
    shards = encode_corpus([batch] * 2, level_codes, None, Spellings.of(vocabulary), size=5)
    for number, _ in enumerate(write_shards(shards, tmp_path, "part0")):
        assert not finished(tmp_path, 1)
        with safe_open(tmp_path / f"part0-{number:04}.safetensors", "pt") as file:
            assert json.loads(file.metadata()["speakers"]) == ["alice"] * 5
    assert finished(tmp_path, 1)


def test_folders_are_a_corpus(tmp_path):
    rows = []
    for number, windows in enumerate((40, 60)):
        write_wav(tmp_path / f"{number}.wav", tone(10, windows, 10))
        rows.append({"audio": f"{number}.wav", "text": TEXTS[number], "speaker": "bob"})
    rows[1]["words"] = [[0, 5, 0.1, 0.4]]
    rows[0]["instruction"], rows[1]["description"] = "Speak fast.", "An old man."
    (tmp_path / "manifest.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (batch,) = open_corpus(str(tmp_path), torch.device("cpu"))
    assert [u.text for u in batch.utterances] == list(TEXTS[:2])
    assert batch.utterances[0].words is None
    assert [u.instruction for u in batch.utterances] == ["Speak fast.", ""]
    assert [u.description for u in batch.utterances] == ["", "An old man."]
    np.testing.assert_allclose(batch.utterances[1].words, [[0, 5, 0.1, 0.4]], rtol=1e-6)
    assert batch.audio.shape == (2, 80 * WINDOW)
    torch.testing.assert_close(batch.audio[1], tone(10, 60, 10), atol=1e-4, rtol=0)


def test_other_sample_rates_are_refused(tmp_path):
    with wave.open(str(tmp_path / "a.wav"), "wb") as file:
        file.setframerate(16_000)
        file.setnchannels(1)
        file.setsampwidth(2)
        file.writeframes(b"\0\0" * 100)
    line = {"audio": "a.wav", "text": "No.", "speaker": "bob"}
    (tmp_path / "manifest.jsonl").write_text(json.dumps(line))
    with pytest.raises(ValueError, match="24 kHz"):
        list(open_corpus(str(tmp_path), torch.device("cpu")))


def test_a_corpus_that_is_neither_is_refused():
    with pytest.raises(ValueError, match="neither a folder nor module:function"):
        open_corpus("nowhere", torch.device("cpu"))


def test_a_store_without_room_refuses(vocabulary, tmp_path):
    batch = SpeechBatch(
        [Utterance("No.", f"s{n}") for n in range(20)], tone(9, 50, 9).repeat(20, 1)
    )
    list(
        write_shards(encode_corpus([batch], level_codes, None, Spellings.of(vocabulary)), tmp_path)
    )
    store = CodeStore(("clara",), torch.device("cpu"), ROOM, bands=8)
    with pytest.raises(ValueError, match="more than 12 speakers"):
        store.refresh(tmp_path)
