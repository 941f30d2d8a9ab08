"""Small random language models of each family."""

import json
from pathlib import Path

import pytest
import torch

from polyseme.encoders import Pretrained
from polyseme.encoders.awd_lstm import AwdLstmConfig, AwdLstmEncoder, TiedDecoder
from polyseme.formats import hf_bert
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
