import torch

from polyseme.heads.head import Features


def test_a_text_is_its_own_vector_or_the_mean_of_its_words():
    words, offsets = torch.tensor([[1.0], [3.0], [5.0]]), torch.tensor([0, 2, 2, 3])
    assert Features(words, offsets).texts.tolist() == [[2.0], [0.0], [5.0]]
    pooled = torch.tensor([[7.0], [8.0], [9.0]])
    assert Features(words, offsets, pooled).texts is pooled
