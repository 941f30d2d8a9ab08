"""Which models are served, and how they compute."""

import pytest

pytest.importorskip("fastapi")
from polyseme.errors import Mistake
from polyseme.serve.models import load_models


def test_8_bits_are_for_the_models_that_can():
    models = {model.name: model.pretrained.encoder for model in load_models(["bert-starter", "static-starter"], "int8")}
    assert models["bert-starter"].precision == "int8"
    assert models["static-starter"].precision is None
    with pytest.raises(Mistake, match="for BERT and ELMo; this is static"):
        load_models(["static-starter"], "int8")
