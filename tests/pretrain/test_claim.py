"""A run's folder belongs to one recipe, one text and one model to go on from."""

import json

import pytest
import torch

from polyseme.encoders import Pretrained
from polyseme.encoders.static import StaticConfig, StaticEncoder
from polyseme.errors import Mistake
from polyseme.pretrain import recipe
from polyseme.pretrain.claim import Begin, digest
from polyseme.pretrain.job import Job
from polyseme.text.bags import BagTokenizer


def model(words=("the", "cat"), seed=0) -> Pretrained:
    torch.manual_seed(seed)
    return Pretrained(BagTokenizer(words), StaticEncoder(StaticConfig(n_rows=len(words), width=2)))


def begin(out, reading, init=None, path="runs/bert") -> Begin:
    job = Job(("a.txt",), (), out, reading, init, lambda report: None)
    return Begin.of(recipe("bert-tiny"), job, path if init else None)


def test_a_digest_tells_weights_and_vocabularies_apart():
    assert digest(model()) == digest(model())
    assert len({digest(model()), digest(model(seed=1)), digest(model(("the", "dog")))}) == 3


def test_the_pieces_of_another_model_at_the_same_place_are_not_used(tmp_path, reading):
    begin(tmp_path, reading, model()).claim(tmp_path)
    (tmp_path / "corpus").mkdir()
    begin(tmp_path, reading, model()).claim(tmp_path)
    assert (tmp_path / "corpus").exists()
    begin(tmp_path, reading, model(seed=1)).claim(tmp_path)
    assert not (tmp_path / "corpus").exists()


def test_once_a_run_has_learned_something_another_model_is_refused(tmp_path, reading):
    begin(tmp_path, reading, model()).claim(tmp_path)
    (tmp_path / "checkpoints").mkdir()
    with pytest.raises(Mistake, match="init_sha256 was"):
        begin(tmp_path, reading, model(seed=1)).claim(tmp_path)


def test_a_run_that_was_begun_before_verbs_and_digests_were_written_down_goes_on(tmp_path, reading):
    begin(tmp_path, reading, model()).claim(tmp_path)
    facts = json.loads((tmp_path / "run.json").read_text())
    del facts["verb"], facts["init_sha256"]
    (tmp_path / "run.json").write_text(json.dumps(facts))
    (tmp_path / "checkpoints").mkdir()
    begin(tmp_path, reading, model()).claim(tmp_path)
