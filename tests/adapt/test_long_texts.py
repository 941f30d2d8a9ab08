import pytest
import torch

from polyseme.adapt.long_texts import Windows
from polyseme.text.words import to_text

TEXTS = ["the bank of the river was high . " * 9, "bats fly .", "", "spring came early . " * 5]


@pytest.mark.parametrize("name", ["tiny_awd", "tiny_awd_pair"])
def test_reading_in_windows_gives_the_vectors_of_reading_it_whole(name, request):
    pretrained = request.getfixturevalue(name)
    batch = pretrained.tokenizer.encode([to_text(text) for text in TEXTS])
    whole = pretrained.encoder(batch)
    parts = Windows(length=7, n_learning=2).read(pretrained.encoder, batch)
    for one, other in zip(whole.layers, parts.layers, strict=True):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=0)


def test_gradients_come_from_the_last_windows_only(tiny_awd):
    batch = tiny_awd.tokenizer.encode([to_text(TEXTS[0])])
    encoder = tiny_awd.encoder.requires_grad_(True)
    n_positions = len(batch.ids)
    found = Windows(length=10, n_learning=2).read(encoder, batch)
    encoder.zero_grad()
    found.layers[-1][: n_positions - 20].sum().backward(retain_graph=True)
    assert all(p.grad is None or not p.grad.any() for p in encoder.parameters())
    found.layers[-1].sum().backward()
    assert all(p.grad is not None and p.grad.any() for p in encoder.lstms.parameters())
