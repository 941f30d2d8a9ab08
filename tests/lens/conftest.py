"""Small random language models of each family."""

import json
from pathlib import Path

import pytest
import torch

from polyseme.encoders import Pretrained
from polyseme.encoders.awd_lstm import AwdLstmConfig, AwdLstmEncoder, TiedDecoder
from polyseme.encoders.bert import BertEncoder
from polyseme.encoders.bert_config import BertConfig
from polyseme.encoders.elmo import ElmoConfig, ElmoEncoder
from polyseme.encoders.static import StaticConfig, StaticEncoder
from polyseme.formats import hf_bert
from polyseme.layers.softmax import Softmax
from polyseme.text.bags import BagTokenizer
from polyseme.text.characters import MARKERS, CharacterTokenizer
from polyseme.text.marked import MarkedWords
from polyseme.text.marks import FAKE, SPECIAL
from polyseme.text.wordpiece import WordPiece

WINDOW = 48
WORDS = (*SPECIAL, "the", "film", "was", "great", ".", "not", FAKE, FAKE)


@pytest.fixture(scope="session")
def sentences():
    return json.loads((Path(__file__).parent.parent / "data" / "sentences.json").read_text())


@pytest.fixture(scope="session")
def folder(sentences, tmp_path_factory):
    """A folder with a random BERT of transformers, both heads included, weights so large that every part shows."""
    transformers = pytest.importorskip("transformers")
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    torch.manual_seed(0)
    tokenizer = WordPiece.train(sentences, n_pieces=400, window=WINDOW)
    sizes = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}
    config = transformers.BertConfig(vocab_size=tokenizer.n_pieces, max_position_embeddings=WINDOW, **sizes)
    model = transformers.BertForPreTraining(config)
    with torch.no_grad():
        for weights in model.parameters():
            weights.add_(torch.randn_like(weights) * 0.15)
    folder = tmp_path_factory.mktemp("bert")
    model.save_pretrained(folder)
    tokenizer.write(folder)
    return folder


@pytest.fixture(scope="session")
def theirs(folder):
    """transformers' own model and tokenizer."""
    import transformers

    model = transformers.BertForMaskedLM.from_pretrained(folder).eval()
    return model, transformers.AutoTokenizer.from_pretrained(folder)


@pytest.fixture(scope="session")
def bert(folder):
    return hf_bert.read(folder)


@pytest.fixture(scope="session")
def awd_lstm():
    """A function that makes a forward or a backward AWD-LSTM."""

    def make(reverse=False, lm=True):
        torch.manual_seed(int(reverse))
        config = AwdLstmConfig(n_words=len(WORDS), embedding_width=6, hidden_width=10)
        encoder, decoder = AwdLstmEncoder(config), TiedDecoder(config)
        with torch.no_grad():
            for weights in [*encoder.parameters(), *decoder.parameters()]:
                weights.add_(torch.randn_like(weights))
        return Pretrained(MarkedWords(WORDS, reverse), encoder, {}, decoder if lm else None)

    return make


ORDINARY = (
    "the a crack cracks in wall bank river was high bats fly at night spring came early good bad film it he she . , "
    "red blue John Mary London Paris money water took place grew"
).split()


def tiny(family):
    """A small random encoder that knows the words above."""
    torch.manual_seed(1)
    match family:
        case "static":
            encoder = StaticEncoder(StaticConfig(n_rows=len(ORDINARY), width=12))
            return Pretrained(BagTokenizer(tuple(ORDINARY), None, True), encoder.eval())
        case "elmo":
            config = ElmoConfig(width=8, cell_width=16, n_highway=1, filters=((1, 4), (2, 8)))
            return Pretrained(CharacterTokenizer(config.max_characters), ElmoEncoder(config).eval())
        case "awd_lstm":
            words = (*SPECIAL, *ORDINARY)
            awd = AwdLstmConfig(n_words=len(words), embedding_width=6, hidden_width=10, n_layers=3)
            return Pretrained(MarkedWords(words), AwdLstmEncoder(awd).eval())
    tokenizer = WordPiece.train([" ".join(ORDINARY)] * 5, n_pieces=150, window=24)
    config = BertConfig(
        vocab_size=tokenizer.n_pieces, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=24, initializer_range=0.5,
    )  # fmt: skip
    return Pretrained(tokenizer, BertEncoder(config).eval())


@pytest.fixture(scope="session", params=["static", "elmo", "awd_lstm", "bert"])
def any_encoder(request):
    return tiny(request.param)


@pytest.fixture(scope="session")
def tiny_bert():
    return tiny("bert")


@pytest.fixture(scope="session")
def tiny_elmo():
    return tiny("elmo")


@pytest.fixture(scope="session")
def elmo():
    """An ELMo with the output layer of its pretraining."""
    torch.manual_seed(2)
    vocabulary = (*MARKERS, *ORDINARY)
    config = ElmoConfig(width=8, cell_width=16, n_highway=1, filters=((1, 4), (2, 8)), n_words=len(vocabulary))
    tokenizer = CharacterTokenizer(config.max_characters, vocabulary)
    return Pretrained(tokenizer, ElmoEncoder(config).eval(), {}, Softmax(config.width, config.n_words))


@pytest.fixture(scope="session")
def tiny_static():
    return tiny("static")
