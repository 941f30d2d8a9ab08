"""How parameters begin."""

import subprocess
import sys

import torch

from polyseme.layers.start import normal_, table

FAMILIES = """
import sys
import torch
from polyseme.encoders import FAMILIES, family
from polyseme.encoders.awd_lstm import AwdLstmConfig
from polyseme.encoders.bert_config import BertConfig
from polyseme.encoders.elmo import ElmoConfig
from polyseme.encoders.static import StaticConfig

CONFIGS = {
    "static": StaticConfig(n_rows=9, width=4),
    "elmo": ElmoConfig(n_words=9),
    "awd_lstm": AwdLstmConfig(n_words=9),
    "bert": BertConfig(num_hidden_layers=1),
}
assert CONFIGS.keys() == FAMILIES.keys()
with torch.device("meta"):
    for name, config in CONFIGS.items():
        family(name).encoder(config)
        if family(name).lm:
            family(name).lm(config)
assert "torch._dynamo" not in sys.modules
"""


def test_no_family_needs_torchs_compiler_to_be_made_for_a_file():
    """It takes two seconds to import, more than all the rest together."""
    done = subprocess.run([sys.executable, "-c", FAMILIES], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_normal_numbers_have_the_spread_asked_for():
    torch.manual_seed(0)
    assert abs(normal_(torch.empty(10_000), std=3.0).std().item() - 3) < 0.1
    assert abs(table(1000, 10, std=0.5).weight.std().item() - 0.5) < 0.02
