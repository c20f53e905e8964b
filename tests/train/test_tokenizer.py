import json
import unicodedata

import pytest

from gpu_engine.config import read_config
from gpu_engine.models.prompt import PromptRequest, plan_prompt
from gpu_engine.models.tokenizer import TextTokenizer
from gpu_engine.train.commands.common import ASSETS
from gpu_engine.train.tokenizer import ADDED, text_encoder, train_bpe

HARD = "Zoë paid €45 at 7:05 p.m. — “fine”?\n\t日本語 🙂 a\u0301"


@pytest.fixture(params=["assets", "fresh"])
def folder(request, vocabulary):
    """The vocabulary that ships, and one learnt here."""
    return ASSETS if request.param == "assets" else vocabulary


def tokenizer(folder):
    return TextTokenizer(folder, read_config(folder).text_ids)


def test_it_works(folder):
    text = "The ferry left the pier."
    ids = tokenizer(folder).encode(text)
    assert tokenizer(folder).decode(ids) == text
    assert len(ids) < len(text)


def test_any_text_has_ids(folder):
    decoded = tokenizer(folder).decode(tokenizer(folder).encode(HARD))
    assert decoded == unicodedata.normalize("NFC", HARD)


def test_every_byte_has_an_id(folder):
    vocab = json.loads((folder / "vocab.json").read_text("utf-8"))
    assert sorted(vocab.values()) == list(range(len(vocab)))
    assert sum(len(token) == 1 for token in vocab) == 256


@pytest.mark.parametrize("word", ["assistant", "user", "\n"])
def test_wrapper_words_are_single_tokens(folder, word):
    assert len(tokenizer(folder).encode(word)) == 1


def test_wrapper_is_three_tokens_before_and_five_after(folder):
    ours = tokenizer(folder)
    ids = read_config(folder).text_ids
    text = "<|im_start|>assistant\nHello.<|im_end|>\n<|im_start|>assistant\n"
    wrapped = ours.encode_with_markers(text)
    assert wrapped[:3] == ours.role == [ids.im_start, ids.assistant, ours.encode("\n")[0]]
    assert wrapped[3:-5] == ours.encode("Hello.")
    assert wrapped[-5:] == [ids.im_end, ours.encode("\n")[0], *ours.role]


def test_added_tokens_are_at_the_top(folder):
    config = json.loads((folder / "config.json").read_text())
    added = json.loads((folder / "tokenizer_config.json").read_text())["added_tokens_decoder"]
    size = config["talker_config"]["text_vocab_size"]
    assert [token["content"] for token in added.values()] == list(ADDED)
    assert list(map(int, added)) == list(range(size - len(ADDED), size))


def test_training_tokenizes_as_serving_does(folder):
    for text in (HARD, "Please don't feed the ducks.", "Set it for 7:15."):
        assert text_encoder(folder).encode(text).ids == tokenizer(folder).encode(text)


def test_other_spellings_read_the_same(folder):
    text = "Thirty swimmers lined up at the lake."
    plain, other = text_encoder(folder), text_encoder(folder, dropout=0.5)
    spellings = {tuple(other.encode(text).ids) for _ in range(20)}
    assert len(spellings) > 1
    assert {tokenizer(folder).decode(list(ids)) for ids in spellings} == {text}
    assert len(plain.encode(text).ids) <= min(map(len, spellings))


def test_prompts_can_be_planned_for_every_preset(folder):
    config = read_config(folder)
    assert len(config.talker.spk_id) == 8
    for speaker in config.talker.spk_id:
        plan = plan_prompt(config, tokenizer(folder), PromptRequest("Hi.", "english", speaker))
        assert max(plan.codec_ids) < config.talker.vocab_size


def test_a_vocabulary_without_room_is_refused():
    with pytest.raises(ValueError, match="no room"):
        train_bpe(["a"], 300)
