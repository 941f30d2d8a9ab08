from polyseme.encoders.bert import BertEncoder
from polyseme.encoders.bert_config import BertConfig
from polyseme.encoders.bert_heads import BertHeads
from polyseme.formats.hf_bert_names import ADJACENT, MASKED, POOLER, canonical, encoder_names

CONFIG = BertConfig(vocab_size=9, hidden_size=4, num_hidden_layers=3, num_attention_heads=2, intermediate_size=5)


def test_the_table_has_every_tensor_of_ours():
    ours = [*BertEncoder(CONFIG).state_dict(), *BertHeads(CONFIG).state_dict()]
    assert sorted(ours) == sorted([*encoder_names(3), *POOLER, *MASKED, *ADJACENT])


def test_the_table_names_each_of_theirs_once():
    table = encoder_names(3) | POOLER | MASKED | ADJACENT
    theirs = [name for names in table.values() for name in names]
    assert len(theirs) == len(set(theirs))
    assert set(canonical(theirs).values()) == set(theirs)


def test_names_are_brought_to_those_of_today():
    assert canonical(["encoder.layer.0.output.LayerNorm.beta", "pooler.dense.bias", "classifier.bias"]) == {
        "encoder.layer.0.output.LayerNorm.beta": "bert.encoder.layer.0.output.LayerNorm.bias",
        "pooler.dense.bias": "bert.pooler.dense.bias",
        "classifier.bias": "classifier.bias",
    }


def test_a_prefix_is_added_only_where_no_name_has_one():
    assert canonical(["bert.pooler.dense.bias", "encoder.weight"])["encoder.weight"] == "encoder.weight"
