import pytest
import torch
from toys import questions, reviews

from polyseme.adapt.data import Data
from polyseme.adapt.fit import fit, said
from polyseme.adapt.inputs import texts_in
from polyseme.adapt.kinds import kind_for
from polyseme.adapt.settings import settings
from polyseme.adapt.shared import Shared


def test_a_part_is_read_as_its_texts_alone_are(any_encoder):
    everything = [*reviews(30).inputs, " ".join(["word"] * 80), "bats fly"]
    chosen = settings(tune="frozen")
    kind = kind_for("classify", reviews(), any_encoder, chosen)
    some = [everything[place] for place in (31, 30, 2, 2)]
    part, alone = Shared(any_encoder, everything).inputs(kind, some, chosen), texts_in(any_encoder, some)
    assert torch.equal(part.batch.offsets, alone.batch.offsets)
    assert torch.equal(part.batch.texts, alone.batch.texts)
    with torch.inference_mode():
        one, other = (any_encoder.encoder(inputs.batch).layers[-1] for inputs in (part, alone))
    torch.testing.assert_close(one, other)


@pytest.mark.parametrize("tune", ["frozen", "full"])
def test_a_fit_that_shares_says_what_one_alone_does(any_encoder, tune):
    data, test = reviews(120), reviews(20, seed=4)
    shared = Shared(any_encoder, [*test.inputs, *data.inputs])
    begin = {name: tensor.clone() for name, tensor in any_encoder.encoder.state_dict().items()}
    chosen = settings(tune=tune, epochs=2, head_rate=0.05)
    alone = fit(any_encoder, "classify", data, chosen).predict(test.inputs)
    any_encoder.encoder.load_state_dict(begin)
    fitted = fit(any_encoder, "classify", data, chosen, shared=shared)
    together = said(fitted, test.inputs, shared)
    assert [one.label for one in together] == [one.label for one in alone]
    for one, other in zip(together, alone, strict=True):
        assert one.scores == pytest.approx(other.scores, abs=1e-4)


def test_a_second_fit_reads_nothing_again(tiny_bert):
    data, test = reviews(120), reviews(20, seed=4)
    shared, stages = Shared(tiny_bert, [*data.inputs, *test.inputs]), []
    for part in (data.take(range(20, 80)), data.take(range(100))):
        fit(tiny_bert, "classify", part, settings(tune="frozen", epochs=1, cache=False), shared=shared,
            tell=lambda report: stages.append(report.stage))  # fmt: skip
        stages.append("done")
    first = stages.index("done")
    assert "Encoding" in stages[:first]
    assert "Encoding" not in stages[first:]


def test_pairs_of_texts_are_shared_too(tiny_elmo):
    data = questions(60)
    shared = Shared(tiny_elmo, data.inputs)
    chosen = settings(tune="frozen", epochs=1)
    fitted = fit(tiny_elmo, "span", data, chosen, shared=shared)
    some = Data(data.inputs[5:12], data.labels[5:12])
    assert [one.label for one in said(fitted, some.inputs, shared)] == [
        one.label for one in fitted.predict(some.inputs)
    ]
