import json
from pathlib import Path
from threading import Thread, get_ident

import numpy as np
import pytest
import torch

from polyseme.encoders.bert import BertConfig, BertEncoder
from polyseme.encoders.pretrained import Pretrained
from polyseme.encoders.sentences import sentence_vectors
from polyseme.encoders.static import StaticConfig, StaticEncoder
from polyseme.encoders.workers import evaluating, even_share, side_by_side
from polyseme.text.wordpiece import WordPiece

SENTENCES = json.loads((Path(__file__).parent.parent / "data" / "sentences.json").read_text()) * 12


@pytest.fixture(autouse=True)
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def pretrained():
    torch.manual_seed(0)
    tokenizer = WordPiece.train(SENTENCES, n_pieces=400, window=64)
    config = BertConfig(
        vocab_size=tokenizer.n_pieces,
        hidden_size=24,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        initializer_range=0.5,
    )
    return Pretrained(tokenizer, BertEncoder(config).eval())


def groups(n):
    return [torch.tensor([number]) for number in range(n)]


def threads_of(encoder, n_groups):
    return set(side_by_side(encoder, groups(n_groups), lambda group: get_ident()))


def test_vectors_are_the_same_from_one_thread_and_from_two(pretrained):
    two = pretrained.embed(SENTENCES), sentence_vectors(pretrained, SENTENCES)
    torch.set_num_threads(1)
    one = pretrained.embed(SENTENCES), sentence_vectors(pretrained, SENTENCES)
    assert all(np.allclose(a, b, rtol=0, atol=5e-6) for a, b in zip(one[0], two[0], strict=True))
    assert np.allclose(one[1], two[1], rtol=0, atol=5e-6)


def test_results_come_in_order_without_gradients_from_threads_that_compute_alone(pretrained):
    def work(group):
        return int(group), torch.get_num_threads(), torch.is_inference_mode_enabled()

    assert side_by_side(pretrained.encoder, groups(50), work) == [(number, 1, True) for number in range(50)]


def test_threads_born_later_begin_with_the_number_that_was_set(pretrained):
    side_by_side(pretrained.encoder, groups(8), lambda group: None)
    found = []
    thread = Thread(target=lambda: found.append(torch.get_num_threads()))
    thread.start()
    thread.join()
    assert [*found, torch.get_num_threads()] == [2, 2]


def test_one_thread_asked_for_is_one_thread_used(pretrained):
    torch.set_num_threads(1)
    assert threads_of(pretrained.encoder, 50) == {get_ident()}


def test_a_single_batch_stays_with_all_threads(pretrained):
    assert threads_of(pretrained.encoder, 1) == {get_ident()}
    assert get_ident() not in threads_of(pretrained.encoder, 2)


def test_large_encoders_and_those_without_products_stay_with_all_threads(pretrained):
    large = BertEncoder(BertConfig(vocab_size=10, num_hidden_layers=1))
    static = StaticEncoder(StaticConfig(n_rows=3, width=2))
    assert threads_of(large, 50) == threads_of(static, 50) == {get_ident()}
    assert get_ident() not in threads_of(pretrained.encoder, 50)


def test_a_mistake_in_a_worker_reaches_the_caller(pretrained):
    def work(group):
        if int(group) == 7:
            raise KeyError("seven")

    with pytest.raises(KeyError, match="seven"):
        side_by_side(pretrained.encoder, groups(50), work)
    assert torch.get_num_threads() == 2


def test_the_mode_of_an_encoder_comes_back_after_a_mistake(pretrained):
    pretrained.encoder.train()
    with pytest.raises(ZeroDivisionError), evaluating(pretrained.encoder):
        assert not pretrained.encoder.training
        _ = 1 / 0
    assert pretrained.encoder.training
    pretrained.encoder.eval()


@pytest.mark.parametrize(("n_threads", "share"), [(1, 16), (2, 16), (3, 15), (6, 12), (40, 40)])
def test_batches_come_out_even_among_those_who_work_side_by_side(pretrained, monkeypatch, n_threads, share):
    monkeypatch.setattr(torch, "get_num_threads", lambda: n_threads)
    assert even_share(pretrained.encoder, 16) == share


def test_in_8_bits_a_model_is_small_only_where_the_processor_rounds(monkeypatch):
    with torch.device("meta"):
        encoder = BertEncoder(BertConfig(vocab_size=10, num_hidden_layers=1), precision="int8")
    for capability, small in (("AVX512", True), ("AVX2", True), ("DEFAULT", False)):
        monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda capability=capability: capability)
        assert encoder.small == small


def test_who_reads_with_a_model_in_training_does_not_disturb_another_who_does(pretrained):
    encoder = pretrained.encoder.train()
    try:
        with evaluating(encoder):
            with evaluating(encoder):
                assert not encoder.training
            assert not encoder.training  # the other still reads
        assert encoder.training
        wanted, found = pretrained.embed(SENTENCES[:40]), []
        threads = [Thread(target=lambda: found.append(pretrained.embed(SENTENCES[:40]))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert encoder.training
    finally:
        encoder.eval()
    assert all(np.allclose(one, other, atol=5e-6) for each in found for one, other in zip(each, wanted, strict=True))
