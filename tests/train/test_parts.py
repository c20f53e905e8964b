"""Archives in parts."""

import json

import pytest

from gpu_engine.train.cli import main
from gpu_engine.train.parts import pack, unpack

SIZE = 4096


@pytest.fixture
def packed(tmp_path):
    """Some 12 kB in parts: a folder with a cache, and a file."""
    teacher = tmp_path / "teacher"
    (teacher / "cache").mkdir(parents=True)
    (teacher / "piece").write_bytes(bytes(range(256)) * 20)
    (teacher / "cache" / "download").write_bytes(b"large")
    (tmp_path / "texts").write_text("No.\n")
    count = pack([teacher, tmp_path / "texts"], tmp_path / "parts", SIZE)
    return [tmp_path / "parts" / str(number) for number in range(1, count + 1)]


def test_it_works(packed, tmp_path):
    # given parts of no more than their size
    assert len(packed) > 2
    for folder in packed:
        assert sum(file.stat().st_size for file in folder.iterdir()) <= SIZE
    # when they arrive one by one, the last one first
    out = tmp_path / "out"
    missing = [*range(1, len(packed))]
    for folder in packed[:0:-1]:
        assert 1 in unpack([folder], out)
    assert unpack(packed[:1], out) == []
    # then all is there but the cache
    assert (out / "teacher" / "piece").read_bytes() == bytes(range(256)) * 20
    assert (out / "texts").read_text() == "No.\n"
    assert not (out / "teacher" / "cache").exists()
    assert missing


def test_a_damaged_part_is_refused(packed, tmp_path):
    (packed[0] / "part").write_bytes(b"x")
    with pytest.raises(ValueError, match="are damaged: remove it and begin again"):
        unpack(packed, tmp_path / "out")


def test_parts_of_another_archive_are_refused(packed, tmp_path):
    about = json.loads((packed[1] / "parts.json").read_text())
    (packed[1] / "parts.json").write_text(json.dumps(about | {"sha256": "other"}))
    with pytest.raises(ValueError, match="parts of several archives"):
        unpack(packed, tmp_path / "out")


def test_as_commands(packed, tmp_path, capfd):
    out = tmp_path / "out"
    assert main(["unpack", str(packed[0]), "--out", str(out)]) == 0
    assert "missing: 2" in capfd.readouterr().out
    main(["unpack", *map(str, packed), "--out", str(out)])
    assert f"all is in {out}" in capfd.readouterr().out
    main(["pack", str(tmp_path / "texts"), "--out", str(tmp_path / "new")])
    assert "1 parts" in capfd.readouterr().out
