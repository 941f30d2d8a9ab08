"""Static vectors from raw text."""

import pytest

import polyseme
from polyseme.errors import Mistake
from polyseme.pretrain import pretrain, recipe

pytest.importorskip("gensim")


@pytest.fixture
def text(tmp_path):
    """All in one line, as text8 is."""
    (tmp_path / "text8.txt").write_text("the cat sat on the mat and the dog sat on the Cat " * 200)
    return tmp_path / "text8.txt"


def test_a_text_of_one_document_is_enough(text, tmp_path, one_process):
    told = []
    out = pretrain(recipe("static", ["width=4", "epochs=1"]), text, tmp_path / "out", tell=told.append)
    made = polyseme.load(out)
    assert set(made.tokenizer.words) == {"the", "cat", "sat", "on", "mat", "and", "dog"}
    assert made.encoder.widths == (4,)
    assert made.provenance["corpus"]["documents"] == 1
    assert {report.stage for report in told} >= {"Reading"}
    assert sorted(path.name for path in out.iterdir()) == [".lock", "model", "run.json"]


def test_words_that_are_all_rare_are_told(text, tmp_path, one_process):
    with pytest.raises(Mistake, match="Lower min_count"):
        pretrain(recipe("static", ["width=4", "min_count=5000"]), text, tmp_path / "out")


def test_what_static_vectors_have_no_use_for_is_refused(text, tmp_path):
    for name in ("valid", "init"):
        with pytest.raises(Mistake, match=f"leave --{name} out"):
            pretrain(recipe("static"), text, tmp_path / "out", **{name: text})
    assert not (tmp_path / "out").exists()
