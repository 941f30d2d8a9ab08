"""Small random encoders of every family."""

import pytest
import torch

from polyseme.encoders import Pretrained
from polyseme.encoders.awd_lstm import AwdLstmConfig, AwdLstmEncoder, BidirectionalAwdLstm
from polyseme.encoders.bert import BertEncoder
from polyseme.encoders.bert_config import BertConfig
from polyseme.encoders.elmo import ElmoConfig, ElmoEncoder
from polyseme.encoders.static import StaticConfig, StaticEncoder
from polyseme.text.bags import BagTokenizer
from polyseme.text.characters import CharacterTokenizer
from polyseme.text.marked import MarkedWords
from polyseme.text.marks import SPECIAL
from polyseme.text.wordpiece import WordPiece

WORDS = (
    "the a crack in wall bank river was high bats fly at night spring came early good bad film awful great movie is "
    "not word short he she said red blue . , ? who where when what John Mary London Paris lives loves visited"
).split()


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("POLYSEME_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def tiny_bert():
    torch.manual_seed(1)
    tokenizer = WordPiece.train([" ".join(WORDS)] * 5, n_pieces=200, window=32)
    config = BertConfig(
        vocab_size=tokenizer.n_pieces, hidden_size=32, num_hidden_layers=4, num_attention_heads=2,
        intermediate_size=64, max_position_embeddings=32,
    )  # fmt: skip
    return Pretrained(tokenizer, BertEncoder(config).eval())


@pytest.fixture
def tiny_elmo():
    torch.manual_seed(1)
    config = ElmoConfig(width=16, cell_width=32, n_highway=1, filters=((1, 8), (2, 8), (3, 16)))
    return Pretrained(CharacterTokenizer(config.max_characters), ElmoEncoder(config).eval())


@pytest.fixture
def tiny_awd():
    torch.manual_seed(1)
    words = (*SPECIAL, *WORDS)
    config = AwdLstmConfig(n_words=len(words), embedding_width=16, hidden_width=24, n_layers=2, dropout_multiplier=0.1)
    return Pretrained(MarkedWords(words), AwdLstmEncoder(config).eval())


@pytest.fixture
def tiny_awd_pair():
    torch.manual_seed(1)
    words = (*SPECIAL, *WORDS)
    config = AwdLstmConfig(
        n_words=len(words), embedding_width=16, hidden_width=24, n_layers=2, bidirectional=True, dropout_multiplier=0.1
    )
    return Pretrained(MarkedWords(words), BidirectionalAwdLstm(config).eval())


@pytest.fixture
def tiny_static():
    torch.manual_seed(1)
    words = tuple(WORDS)
    encoder = StaticEncoder(StaticConfig(n_rows=len(words), width=24))
    torch.nn.init.normal_(encoder.table.weight)
    return Pretrained(BagTokenizer(words, None, True), encoder.eval())


@pytest.fixture(params=["bert", "elmo", "awd", "awd_pair", "static"])
def any_encoder(request):
    return request.getfixturevalue(f"tiny_{request.param}")
