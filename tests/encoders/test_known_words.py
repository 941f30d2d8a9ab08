from concurrent.futures import ThreadPoolExecutor

import torch

from polyseme.encoders.elmo import ElmoConfig, ElmoEncoder
from polyseme.encoders.known_words import KnownWords, word_vectors
from polyseme.text.characters import spell

CONFIG = ElmoConfig(character_width=4, filters=((1, 4), (3, 8)), n_highway=1, width=8, cell_width=8)


def make():
    torch.manual_seed(0)
    return ElmoEncoder(CONFIG).eval().words


class Counting:
    """An encoder that counts what it is asked for; a word's vector is its length."""

    def __init__(self):
        self.n_asked = 0

    def __call__(self, spellings):
        self.n_asked += len(spellings.offsets) - 1
        return spellings.offsets.diff().float().unsqueeze(1)


def lengths(*words):
    return [[3.0], [3.0], *([float(len(word) + 2)] for word in words)]


def test_a_word_is_asked_for_once():
    known, encode = KnownWords(1, torch.float32, capacity=10), Counting()
    assert known.vectors(spell(["a", "bbb"], 50), encode).tolist() == lengths("a", "bbb")
    assert encode.n_asked == 4
    assert known.vectors(spell(["cc", "a"], 50), encode).tolist() == lengths("cc", "a")
    assert encode.n_asked == 5


def test_it_never_holds_more_than_its_capacity_and_stays_right():
    known, encode = KnownWords(1, torch.float32, capacity=7), Counting()
    for number in range(40):
        words = ["x" * (number % 11), "y" * (number % 3), "z" * (number % 7)]
        assert known.vectors(spell(words, 50), encode).tolist() == lengths(*words)
        assert len(known) <= 7
    many = ["w" * number for number in range(30)]
    for _ in range(2):
        assert known.vectors(spell(many, 50), encode).tolist() == lengths(*many)
        assert len(known) <= 7


def test_words_cut_off_to_the_same_spelling_are_one():
    known, encode = KnownWords(1, torch.float32, capacity=9), Counting()
    known.vectors(spell(["abcd", "abce"], 5), encode)
    assert len(known) == 3


def test_many_threads_get_what_one_gets():
    known, encode = KnownWords(1, torch.float32, capacity=50), Counting()
    texts = [[f"{'a' * (n % 17)}{m}" for m in range(n % 29)] for n in range(300)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda words: known.vectors(spell(words, 50), encode).tolist(), texts))
    assert found == [lengths(*words) for words in texts]


def test_remembered_vectors_are_those_of_the_encoder():
    encoder, first, second = make(), spell(["one", "two"], 50), spell(["two", "three", "one"], 50)
    with torch.inference_mode():
        word_vectors(encoder, first)
    with torch.no_grad():
        assert (word_vectors(encoder, second) - encoder(second)).abs().max() < 1e-6
        word_vectors(encoder, spell(["four"], 50))


def test_changed_parameters_are_seen():
    encoder, words = make(), spell(["one", "two"], 50)
    with torch.no_grad():
        before = word_vectors(encoder, words)
        encoder.projection.bias.add_(1)
        assert (word_vectors(encoder, words) - before - 1).abs().max() < 1e-6


def test_gradients_flow_to_words_met_before():
    encoder, words = make(), spell(["one", "two"], 50)
    with torch.no_grad():
        word_vectors(encoder, words)
    word_vectors(encoder, words).sum().backward()
    assert encoder.kernels[0].grad.abs().sum() > 0
