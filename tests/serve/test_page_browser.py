import os
import shutil
import subprocess
from pathlib import Path

import pytest
import serving
import torch

pytest.importorskip("fastapi")
from polyseme.encoders import Pretrained
from polyseme.encoders.elmo import ElmoConfig, ElmoEncoder
from polyseme.formats import save
from polyseme.layers.softmax import Softmax
from polyseme.serve.limits import Limits
from polyseme.serve.models import load_models
from polyseme.serve.service import Service
from polyseme.text.characters import MARKERS, CharacterTokenizer

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
MODULES = Path(os.environ.get("POLYSEME_NODE_MODULES", "node_modules")).resolve()
REPORT = """<!doctype html><title>report</title><p>…</p><script>
try { parent.document.title } catch { document.querySelector("p").textContent = "apart" }
</script>"""


def talking_elmo():
    """A tiny ELMo with a language model's output."""
    torch.manual_seed(1)
    words = (*MARKERS, *serving.WORDS)
    config = ElmoConfig(width=16, cell_width=32, n_highway=1, filters=((1, 8), (2, 8), (3, 16)), n_words=len(words))
    tokenizer = CharacterTokenizer(config.max_characters, words)
    return Pretrained(tokenizer, ElmoEncoder(config).eval(), {}, Softmax(config.width, len(words)).eval())


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@pytest.mark.skipif(
    not (MODULES / "playwright-core").is_dir(),
    reason="playwright-core is not in the folder that POLYSEME_NODE_MODULES names",
)
def test_the_page_works_in_a_browser_by_keyboard_on_a_phone_and_asks_nobody_else(mixed, tmp_path):
    save(talking_elmo(), tmp_path / "elmo")
    save(serving.tiny_bert(), tmp_path / "bert")
    save(serving.tiny_static(), tmp_path / "static")
    (tmp_path / "report.html").write_text(REPORT)
    places = [tmp_path / "elmo", tmp_path / "bert", tmp_path / "static", mixed / "films", mixed / "names"]
    service = Service(load_models([str(place) for place in places]), Limits())
    with serving.Local(service, report_file=tmp_path / "report.html") as server:
        script = Path(__file__).parent / "page.mjs"
        command = ["node", str(script), server.address, str(CHROMIUM), str(MODULES)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
