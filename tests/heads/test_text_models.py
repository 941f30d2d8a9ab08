import pytest
import torch

from polyseme.errors import Mistake
from polyseme.heads.text_models import text_model


def test_ulmfit_is_its_classifier(features):
    """Batch norm, dropout, 50 units with relu, batch norm, dropout, linear."""
    torch.manual_seed(0)
    model, words = text_model("ulmfit", 4, 2, dropout=0.0), torch.randn(5, 4)
    pooled = torch.stack([part.mean(0) for part in words.split([2, 3])])
    hidden = model.hidden((pooled - pooled.mean(0)) / (pooled.var(0, correction=0) + 1e-5).sqrt()).relu()
    wanted = model.out((hidden - hidden.mean(0)) / (hidden.var(0, correction=0) + 1e-5).sqrt())
    assert hidden.shape == (2, 50)
    assert torch.allclose(model(features(words, [2, 3])), wanted, atol=1e-5)


def test_an_unknown_model_is_refused():
    with pytest.raises(Mistake, match=r"model='lstm' is not known. Use 'linear'"):
        text_model("lstm", 4, 2)


def test_a_lone_text_in_training_leaves_the_running_statistics(features):
    model = text_model("ulmfit", 4, 2)
    before = model.norm.running_mean.clone()
    model(features(torch.randn(3, 4), [3]))
    assert torch.equal(model.norm.running_mean, before)


@torch.no_grad()
def test_bilstm_reads_the_highest_the_mean_and_the_last_states(features):
    model, words = text_model("bilstm", 4, 2, hidden_width=3).eval(), torch.randn(5, 4)
    rows = model.lstm(words, torch.tensor([0, 5])).rows
    pooled = torch.cat([rows.max(0).values, rows.mean(0), rows[-1, :3], rows[0, 3:]])
    assert torch.allclose(model(features(words, [5]))[0], model.out(pooled), atol=1e-6)


@pytest.mark.parametrize("name, n_rows", [("linear", 4), ("ulmfit", 4), ("bilstm", 4), ("pair", 2)])
def test_every_model_gives_as_many_outputs_as_asked_for(name, n_rows, features):
    assert text_model(name, 4, 5, hidden_width=7)(features(torch.randn(6, 4), [2, 1, 0, 3])).shape == (n_rows, 5)
