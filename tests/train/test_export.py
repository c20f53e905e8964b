"""From trained parts to a checkpoint that loads and speaks."""

import json
import shutil

import pytest
import torch
from safetensors.torch import load_file

from gpu_engine.models.checkpoint import load_checkpoint
from gpu_engine.models.prompt import PromptRequest, plan_prompt, takes_instructions
from gpu_engine.models.synthesis import GREEDY, Speech, Utterance, synthesise
from gpu_engine.train.cli import main
from gpu_engine.train.codec_model import TINY_CODEC, CodecModel
from gpu_engine.train.corpus import read_sentences, read_wav
from gpu_engine.train.evaluate import Clip, report, wrong_length
from gpu_engine.train.export import export_checkpoint, load_codec
from gpu_engine.train.runtime import load_shards, save_shards
from gpu_engine.train.talker_state import averaged_weights, save_weights

from .conftest import MICRO_SPEAKER, make_store
from .test_talker import short, trainer_of


@pytest.fixture(scope="module")
def codec(tmp_path_factory):
    """An untrained codec as a codec training leaves it."""
    folder = tmp_path_factory.mktemp("codec")
    torch.manual_seed(0)
    save_shards(folder, "codec", CodecModel(TINY_CODEC).state_dict())
    return folder


@pytest.fixture
def trained(micro, tmp_path):
    """A recipe folder of the micro model, its trainer after two steps, and its weights' folder."""
    recipe = tmp_path / "recipe"
    shutil.copytree(micro.folder, recipe)
    config = json.loads((recipe / "config.json").read_text())
    talker, predictor = micro.config.talker, micro.config.talker.code_predictor_config
    for section, values in (
        (config["talker_config"], talker),
        (config["talker_config"]["code_predictor_config"], predictor),
    ):
        section |= {
            k: getattr(values, k) for k in section if isinstance(getattr(values, k, None), int)
        }
    config["speaker_encoder_config"] |= {
        "enc_dim": 32,
        "mel_dim": 8,
        "enc_channels": [16, 16, 16, 16, 48],
        "enc_attention_channels": 8,
        "enc_se_channels": 8,
    }
    (recipe / "config.json").write_text(json.dumps(config))
    store = make_store(micro.folder, tmp_path, speakers=("clara", "mallory"), references=True)
    trainer = trainer_of(micro, store, short(2), MICRO_SPEAKER)
    trainer.advance()
    trainer.advance()
    save_weights(trainer, tmp_path / "talker")
    return recipe, trainer, tmp_path / "talker"


def test_it_works(trained, codec, tmp_path):
    recipe, trainer, talker = trained
    # when the parts are joined and loaded again
    export_checkpoint(recipe, talker, codec, tmp_path / "out")
    checkpoint = load_checkpoint(tmp_path / "out")
    # then the weights are the averaged ones, in half precision, and the codec is the codec
    expected = averaged_weights(trainer)
    for name, tensor in checkpoint.talker.state_dict().items():
        assert torch.equal(tensor, expected[f"talker.{name}"].float())
    _, decoder = load_codec(codec)
    codes = torch.randint(0, 512, (1, 16, 4))
    ours, theirs = checkpoint.codec_decoder.decode(codes), decoder.decode(codes)
    torch.testing.assert_close(ours, theirs, atol=5e-3, rtol=0)
    # and it speaks in every preset's name
    rows = [
        Utterance(PromptRequest("No.", "english", name), GREEDY, max_frames=3)
        for name in ("june", "theo")
    ]
    assert [len(speech.codes) <= 3 for speech in synthesise(checkpoint, rows)] == [True, True]


def test_everything_is_in_half_precision_and_nothing_helps_training(trained, codec, tmp_path):
    recipe, _, talker = trained
    for kind in ("custom_voice", "base"):
        export_checkpoint(recipe, talker, codec, tmp_path / kind, kind)
        for name in ("model.safetensors", "speech_tokenizer/model.safetensors"):
            tensors = load_file(tmp_path / kind / name)
            assert {tensor.dtype for tensor in tensors.values()} == {torch.float16}
            assert not any(key.startswith("phone_head") for key in tensors)


def test_codebooks_survive_half_precision(codec, trained, tmp_path):
    recipe, _, talker = trained
    export_checkpoint(recipe, talker, codec, tmp_path / "out", "base")
    encoder, decoder = load_codec(tmp_path / "out" / "speech_tokenizer")
    exact_encoder, exact_decoder = load_codec(codec)
    for ours, exact in (
        (decoder.quantizer.rvq_rest, exact_decoder.quantizer.rvq_rest),
        (decoder.quantizer.rvq_first, exact_decoder.quantizer.rvq_first),
    ):
        for mine, theirs in zip(ours.codebooks(), exact.codebooks(), strict=True):
            torch.testing.assert_close(
                mine.embedding_sum, theirs.embedding_sum, atol=1e-6, rtol=1e-3
            )
    audio = torch.randn(1, 1920 * 8) * 0.1
    same = encoder.encode(audio) == exact_encoder.encode(audio)
    assert same[:, :2].float().mean() > 0.9


def test_what_half_precision_cannot_hold_is_refused(codec, trained, tmp_path):
    recipe, _, talker = trained
    broken = tmp_path / "broken"
    weights = load_shards(talker, "weights")
    name = "talker.model.norm.weight"
    save_shards_in(broken, weights | {name: torch.full_like(weights[name].float(), 1e6)})
    with pytest.raises(ValueError, match=f"too large for float16: {name}"):
        export_checkpoint(recipe, broken, codec, tmp_path / "out")


def save_shards_in(folder, tensors):
    folder.mkdir()
    save_shards(folder, "weights", tensors)


def test_base_has_the_speaker_encoder_instead_of_presets(trained, codec, tmp_path):
    recipe, trainer, talker = trained
    export_checkpoint(recipe, talker, codec, tmp_path / "out", "base")
    checkpoint = load_checkpoint(tmp_path / "out")
    assert checkpoint.config.talker.spk_id == {}
    assert checkpoint.codec_encoder is not None
    audio = torch.randn(1, 1920 * 3) * 0.1
    assert torch.equal(
        checkpoint.codec_encoder.encode(audio), checkpoint.codec_encoder.encode(audio)
    )
    mine = trainer.learner.speaker
    for name, tensor in checkpoint.speaker_encoder.state_dict().items():
        assert tensor.shape == mine.state_dict()[name].shape


def test_voice_design_has_neither_presets_nor_an_encoder(trained, codec, tmp_path):
    recipe, trainer, talker = trained
    parts = ["--recipe", str(recipe), "--talker", str(talker), "--codec", str(codec)]
    assert main(["export", *parts, "--kind", "voice_design", "--out", str(tmp_path / "out")]) == 0
    checkpoint = load_checkpoint(tmp_path / "out")
    assert checkpoint.config.kind == "voice_design"
    assert checkpoint.config.talker.spk_id == {}
    assert (checkpoint.codec_encoder, checkpoint.speaker_encoder) == (None, None)
    # the Talker is the others', and the description is part of its prompt
    expected = averaged_weights(trainer)["talker.model.norm.weight"].float()
    assert torch.equal(checkpoint.talker.state_dict()["model.norm.weight"], expected)
    asked = PromptRequest("No.", "english", instructions="An old man.")
    plan = plan_prompt(checkpoint.config, checkpoint.tokenizer, asked)
    wrapped = checkpoint.tokenizer.wrap_instruction("An old man.")
    assert list(plan.text_ids[: len(wrapped)]) == wrapped
    (speech,) = synthesise(checkpoint, [Utterance(asked, GREEDY, max_frames=3)])
    assert len(speech.codes) <= 3


@pytest.mark.parametrize(("instructed", "size"), [(False, "tiny"), (True, "tiny_instructed")])
def test_only_who_was_trained_with_instructions_takes_them(
    trained, codec, tmp_path, instructed, size
):
    recipe, _, talker = trained
    export_checkpoint(recipe, talker, codec, tmp_path / "out", "custom_voice", instructed)
    config = load_checkpoint(tmp_path / "out").config
    assert config.size == size
    assert takes_instructions(config) == instructed


def test_who_is_told_nothing_is_not_judged_by_it(trained, codec, tmp_path):
    recipe, _, talker = trained
    export_checkpoint(recipe, talker, codec, tmp_path / "out")
    (tmp_path / "lines.txt").write_text("Every spring the swallows return.\n")
    speak = ["--checkpoint", str(tmp_path / "out"), "--sentences", str(tmp_path / "lines.txt")]
    with pytest.raises(ValueError, match=r"this custom_voice checkpoint .tiny. is told nothing"):
        main(["evaluate", *speak, "--told", "--out", str(tmp_path / "heard")])


def test_evaluation_leaves_clips_a_transcript_and_a_report(trained, codec, tmp_path):
    recipe, _, talker = trained
    checkpoint, heard = tmp_path / "out", tmp_path / "heard"
    (tmp_path / "lines.txt").write_text("# ours\nNo.\tno\nCould you move it?\tcould you move it\n")
    parts = ["--recipe", str(recipe), "--talker", str(talker), "--codec", str(codec)]
    assert main(["export", *parts, "--out", str(checkpoint)]) == 0
    speak = ["--checkpoint", str(checkpoint), "--sentences", str(tmp_path / "lines.txt")]
    assert main(["evaluate", *speak, "--out", str(heard), "--voices", "ruth", "oscar"]) == 0
    assert (heard / "transcript.tsv").read_text().splitlines() == [
        "000.wav\tNo.\truth",
        "001.wav\tCould you move it?\toscar",
    ]
    figures = json.loads((heard / "report.json").read_text())
    spoken = sum(len(read_wav(heard / f"{n:03}.wav")) for n in range(2)) / 24_000
    assert figures["clips"] == 2
    assert figures["seconds"] == pytest.approx(spoken, abs=0.01)


def clip(text, seconds, stopped=True):
    return Clip(
        text, "clara", Speech(torch.zeros(0, 16), torch.ones(int(24_000 * seconds)), stopped)
    )


def test_lengths_are_judged_by_the_text():
    text = "x" * 153  # ten seconds
    assert not wrong_length(clip(text, 10))
    assert wrong_length(clip(text, 4.9))
    assert wrong_length(clip(text, 21.1))
    assert wrong_length(clip(text, 10, stopped=False))
    figures = report([clip(text, 10), clip(text, 30)], wall=20)
    assert figures["wrong_length"] == 0.5
    assert figures["real_time_factor"] == 0.5
    assert figures["characters_per_second"] == 7.65


def test_sentences_are_spread_over_the_file(tmp_path):
    path = tmp_path / "lines.txt"
    path.write_text("# note\n" + "\n".join(f"line {n}\tspoken" for n in range(10)))
    assert read_sentences(path, 3) == ["line 0", "line 3", "line 6"]
    assert len(read_sentences(path)) == 10
