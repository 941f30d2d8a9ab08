from itertools import pairwise

import pytest
import torch

from polyseme.encoders import Pretrained
from polyseme.encoders.bert import BertEncoder
from polyseme.encoders.bert_heads import BertHeads
from polyseme.errors import Mistake
from polyseme.lens.adjacent import follows


def test_chances_are_those_of_transformers(bert, folder, theirs, sentences):
    import transformers

    model = transformers.BertForNextSentencePrediction.from_pretrained(folder).eval()
    pairs = [*pairwise(sentences), ("the wall", ""), ("", "")]
    batches = [
        theirs[1]([first], [second], return_tensors="pt") for first, second in pairs
    ]  # alone, "" would be dropped
    fitting = [number for number, batch in enumerate(batches) if batch["input_ids"].numel() <= bert.tokenizer.window]
    assert len(fitting) > 5
    found = follows(bert, [pairs[number] for number in fitting])
    for number, chance in zip(fitting, found, strict=True):
        with torch.inference_mode():
            logits = model(**batches[number]).logits
        assert chance == pytest.approx(float(logits.softmax(1)[0, 0]), abs=1e-5)
    assert max(found) - min(found) > 0.01


def test_a_long_pair_is_cut_and_no_pairs_are_fine(bert, sentences):
    (chance,) = follows(bert, [(" ".join(sentences), " ".join(sentences))])
    assert 0 <= chance <= 1
    assert follows(bert, []) == []


def without(bert, **flags):
    config = bert.encoder.config.model_copy(update=flags)
    heads = BertHeads(config) if config.masked_head or config.adjacent_head else None
    return Pretrained(bert.tokenizer, BertEncoder(config), {}, heads)


@pytest.mark.parametrize(
    "flags, said",
    [
        ({"pooler": False}, "left out the pooler. Take"),
        ({"adjacent_head": False}, "left out the next-sentence head. Take"),
        (
            {"adjacent_head": False, "masked_head": False, "pooler": False},
            "the pooler and the next-sentence head. Take",
        ),
    ],
)
def test_what_is_absent_is_named(bert, flags, said):
    with pytest.raises(Mistake, match=said):
        follows(without(bert, **flags), [("a", "b")])


def test_only_bert_can_tell(awd_lstm):
    with pytest.raises(Mistake, match="Only BERT can tell"):
        follows(awd_lstm(), [("a", "b")])


@pytest.mark.parametrize("wrong", ["ab", ("a",), ("a", "b", "c")])
def test_a_pair_is_two_texts(bert, wrong):
    with pytest.raises(Mistake, match="A pair is two texts"):
        follows(bert, [wrong])
