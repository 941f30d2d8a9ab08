"""Small random encoders, and comparisons of them."""

import pytest
import torch
from toys import reviews

from polyseme.comparison.compare import comparison
from polyseme.comparison.plan import Axes
from polyseme.encoders import Pretrained
from polyseme.encoders.awd_lstm import AwdLstmConfig, AwdLstmEncoder
from polyseme.encoders.bert import BertEncoder
from polyseme.encoders.bert_config import BertConfig
from polyseme.encoders.static import StaticConfig, StaticEncoder
from polyseme.text.bags import BagTokenizer
from polyseme.text.marked import MarkedWords
from polyseme.text.marks import SPECIAL
from polyseme.text.wordpiece import WordPiece

WORDS = "the a film was movie is good great early bad awful not . , John Mary London Paris visited at night".split()


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("POLYSEME_CACHE", str(tmp_path / "cache"))


def _static():
    torch.manual_seed(1)
    encoder = StaticEncoder(StaticConfig(n_rows=len(WORDS), width=12))
    return Pretrained(BagTokenizer(tuple(WORDS), None, True), encoder.eval())


def _bert():
    torch.manual_seed(1)
    tokenizer = WordPiece.train([" ".join(WORDS)] * 5, n_pieces=120, window=32)
    config = BertConfig(
        vocab_size=tokenizer.n_pieces, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=32,
    )  # fmt: skip
    return Pretrained(tokenizer, BertEncoder(config).eval())


@pytest.fixture(scope="session")
def make_static():
    return _static


@pytest.fixture(scope="session")
def make_bert():
    return _bert


@pytest.fixture
def static():
    return _static()


@pytest.fixture
def bert():
    return _bert()


@pytest.fixture
def awd():
    torch.manual_seed(1)
    words = (*SPECIAL, *WORDS)
    config = AwdLstmConfig(n_words=len(words), embedding_width=16, hidden_width=24, n_layers=2)
    return Pretrained(MarkedWords(words), AwdLstmEncoder(config).eval())


@pytest.fixture
def asked(tmp_path, static, bert):
    """A comparison of the two, as it is asked for each time."""

    def ask(out="run", data=None, **axes):
        values = {
            "tune": ("frozen", "full"),
            "seeds": (0, 1),
            "labels": (20, "all"),
            "chosen": (("epochs", 2), ("head_rate", 0.1), ("rate", 0.01)),
        }
        encoders = {"words": static, "bert": bert}
        return comparison(
            "classify", data or reviews(160), encoders, Axes(**{**values, **axes}), tmp_path / out, reviews(60, seed=3)
        )

    return ask
