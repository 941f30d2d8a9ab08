"""Writes fastai_tiny/ with fastai itself. No test runs this; it needs an environment with fastai 2.8 and torch.

    python make_fastai_tiny.py

lstm_fwd.pth (Learner.save), with_optimizer.pth (the same after some steps, with the optimiser), encoder.pth
(save_encoder), itos.pkl (save_pickle), outputs.npz (what fastai computes) and pieces.json (how it splits words).
"""

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from fastai.text.all import (
    AWD_LSTM,
    TextDataLoaders,
    Tokenizer,
    WordTokenizer,
    awd_lstm_lm_config,
    language_model_learner,
    save_pickle,
)

HERE = Path(__file__).parent / "fastai_tiny"
TEXT = "The cat sat on the mat. A GREAT dog, soooo big, saw it and ran!"
WORDS = (
    "The the GREAT I A iPhone McDonald soooo SOOOO HELLOOOO 1000 2000s ... — -- ----- Well-known well-known "
    "X-Ray T-1000 24-hour 1971-72 and/or #tag a/b Mr. mrs. U.S. a.m. e.g. J. etc. cannot Cannot AT&T n't 's Él "
    "naïve ÉCOLE don 42 COVID-19 ( ? ! C++ No. 10:30 <unk>"
)
TEXTS = [
    TEXT,
    "Mr. Smith wasn't in New York at 10:30, was he?",
    "It's a well-known fact that NASA landed on the Moon in 1969 (see chapter 4).",
    "LOVED it! The acting is sooo good; and/or the music.",
]


def main() -> None:
    torch.manual_seed(1)
    torch.set_num_threads(1)
    learner = _learner()
    for parameter in learner.model.parameters():
        torch.nn.init.uniform_(parameter, -0.8, 0.8)
    learner.save("lstm_fwd", with_opt=False)
    _save_outputs(learner.model.eval())
    learner.save_encoder("encoder")
    save_pickle(HERE / "itos.pkl", learner.dls.vocab)
    learner.fit_one_cycle(1, 1e-3)
    learner.save("with_optimizer", with_opt=True)
    for file in (HERE / "models").glob("*.pth"):
        shutil.move(file, HERE / file.name)
    (HERE / "models").rmdir()
    _save_pieces()


def _learner():
    frame = pd.DataFrame({"text": [TEXT] * 24, "valid": [False] * 20 + [True] * 4})
    loaders = TextDataLoaders.from_df(
        frame, text_col="text", is_lm=True, valid_col="valid", bs=4, seq_len=6, num_workers=0
    )
    config = {**awd_lstm_lm_config, "emb_sz": 8, "n_hid": 12, "n_layers": 3}
    return language_model_learner(loaders, AWD_LSTM, config=config, pretrained=False, path=HERE)


def _save_outputs(model) -> None:
    ids = torch.randint(0, model[0].encoder.num_embeddings, (3, 9))
    model.reset()
    seen = [model[0].encoder(ids)]
    hooks = [rnn.register_forward_hook(lambda _, __, out: seen.append(out[0])) for rnn in model[0].rnns]
    with torch.no_grad():
        logits = model(ids)[0]
    for hook in hooks:
        hook.remove()
    arrays = {f"layer_{number}": layer.detach().numpy() for number, layer in enumerate(seen)}
    states = {
        f"{name}_{number}": tensor[0].detach().numpy()
        for number, state in enumerate(model[0].hidden)
        for name, tensor in zip(("hidden", "cell"), state, strict=True)
    }
    np.savez_compressed(HERE / "outputs.npz", ids=ids.numpy(), logits=logits.numpy(), **arrays, **states)


def _save_pieces() -> None:
    tokenizer = Tokenizer(WordTokenizer())
    found = {
        "words": [[word, list(tokenizer(word))[1:]] for word in WORDS.split()],
        "texts": [[text, list(tokenizer(text))] for text in TEXTS],
    }
    (HERE / "pieces.json").write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n")


if __name__ == "__main__":
    main()
