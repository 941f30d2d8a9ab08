"""ELMo against a plain implementation of its own: padded, masked, one step after another."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest
import torch
from pydantic import ValidationError
from torch.nn import functional as F

from polyseme.encoders import Pretrained, family
from polyseme.encoders.elmo import ElmoConfig, ElmoEncoder, direction, representations
from polyseme.errors import Mistake
from polyseme.text.batches import take
from polyseme.text.characters import CharacterTokenizer
from polyseme.text.words import to_text

TINY = ElmoConfig(
    character_width=4,
    filters=((1, 4), (2, 8), (3, 16)),
    n_highway=1,
    max_characters=12,
    width=6,
    cell_width=10,
    n_layers=3,
    cell_clip=0.2,
    projection_clip=0.05,
)
SMALL = ElmoConfig(n_highway=1, width=128, cell_width=1024)  # the small release
TEXTS = [
    "Elk calling is now its own sport .",
    "",
    "Why does everything have to become such a big , extraordinarily complicated issue ?",
    "Don't !",
    "It rained , and the naïve elk stayed .",
    "No .",
]


def make(config=TINY, scale=1.5):
    torch.manual_seed(0)
    encoder = ElmoEncoder(config)
    with torch.no_grad():
        for parameter in encoder.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.05).mul_(scale)
    return encoder.eval()


def encode(texts, config=TINY):
    return CharacterTokenizer(config.max_characters).encode([to_text(text) for text in texts])


def plainly(encoder, texts, state=None):
    """(layers, texts, positions, 2 * width) and the mask, computed with pads everywhere and no cleverness."""
    config, longest = encoder.config, encoder.config.max_characters
    rows = [[[256], *(list(word.encode()[: longest - 2]) for word in to_text(text).words), [257]] for text in texts]
    n_positions = max(map(len, rows))
    characters = torch.zeros(len(rows), n_positions, longest, dtype=torch.long)  # 0 is sentence padding, so all is + 1
    for i, row in enumerate(rows):
        for k, word in enumerate(row):
            spelled = [258, *word, 259]
            characters[i, k] = torch.tensor(spelled + [260] * (longest - len(spelled))) + 1
    mask = characters[:, :, 0] > 0
    words = plain_words(encoder.words, characters.flatten(0, 1)).unflatten(0, (len(rows), n_positions))
    sides, last = [], []
    for side, name in enumerate(("ahead", "back")):
        ys, outs = words, []
        for number, layer in enumerate(encoder.layers):
            lstm = getattr(layer, name)
            where = 2 * (side * config.n_layers + number)
            first = (None, None) if state is None else state[where : where + 2]
            out, after = plain_lstm(lstm, ys, mask, first, backwards=name == "back")
            ys = out + ys if config.skip and number > 0 else out
            outs.append(ys)
            last += after
        sides.append(outs)
    layers = [torch.cat([words, words], -1), *(torch.cat(pair, -1) for pair in zip(*sides, strict=True))]
    return [layer[mask] for layer in layers], last


def plain_words(cnn, characters):
    table = F.pad(cnn.characters, (0, 0, 1, 0))
    embedded, found = table[characters].mT, []
    for (wide, n), kernel, bias in zip(cnn.filters, cnn.kernels, cnn.biases, strict=True):
        weight = kernel.view(wide, -1, n).permute(2, 1, 0)
        found.append(torch.relu(F.conv1d(embedded, weight, bias).max(-1).values))
    out = torch.cat(found, 1)
    for highway in cnn.highways:
        gate = torch.sigmoid(F.linear(out, highway.carry.weight, highway.carry.bias))
        out = gate * torch.relu(F.linear(out, highway.transform.weight, highway.transform.bias)) + (1 - gate) * out
    return F.linear(out, cnn.projection.weight, cnn.projection.bias)


def plain_lstm(lstm, rows, mask, state, backwards):
    n, length, width = rows.shape
    hidden = rows.new_zeros(n, width) if state[0] is None else state[0]
    memory = rows.new_zeros(n, lstm.projection.in_features) if state[1] is None else state[1]
    outputs = torch.zeros_like(rows)
    for t in reversed(range(length)) if backwards else range(length):
        gates = rows[:, t] @ lstm.input.weight.T + hidden @ lstm.recurrent.weight.T + lstm.input.bias
        i, f, o, j = gates.chunk(4, 1)
        new = torch.sigmoid(f + 1.0) * memory + torch.sigmoid(i) * torch.tanh(j)
        new = new.clamp(-lstm.cell_clip, lstm.cell_clip)
        out = (torch.sigmoid(o) * torch.tanh(new)) @ lstm.projection.weight.T
        out = out.clamp(-lstm.projection_clip, lstm.projection_clip)
        here = mask[:, t : t + 1]
        hidden, memory = torch.where(here, out, hidden), torch.where(here, new, memory)
        outputs = outputs.index_copy(1, torch.tensor([t]), (out * here).unsqueeze(1))
    return outputs, [hidden, memory]


@pytest.mark.parametrize("skip", [True, False])
@pytest.mark.parametrize("grad", [True, False])
def test_every_layer_is_that_of_a_plain_implementation(skip, grad):
    encoder = make(TINY.model_copy(update={"skip": skip}))
    with torch.set_grad_enabled(grad):
        found, (wanted, state) = encoder(encode(TEXTS)), plainly(encoder, TEXTS)
    assert len(found.layers) == TINY.n_layers + 1
    for one, other in zip(found.layers, wanted, strict=True):
        assert (one - other).abs().max() < 1e-5
    for one, other in zip(found.state, state, strict=True):
        assert (one - other).abs().max() < 1e-5


def test_the_clips_of_this_model_do_clip():
    encoder = make()
    with torch.no_grad():
        output, memory, *_ = encoder(encode(TEXTS)).state
    assert float(output.abs().max()) == pytest.approx(TINY.projection_clip)
    assert float(memory.abs().max()) == pytest.approx(TINY.cell_clip)


def test_a_carried_state_is_that_of_a_plain_implementation():
    encoder = make()
    with torch.no_grad():
        first = encoder(encode(TEXTS))
        second = encoder(encode(TEXTS[::-1]), first.state)
        wanted, state = plainly(encoder, TEXTS[::-1], first.state)
    assert (second.layers[-1] - wanted[-1]).abs().max() < 1e-5
    for one, other in zip(second.state, state, strict=True):
        assert (one - other).abs().max() < 1e-5


def test_nothing_is_kept_from_one_call_to_the_next():
    encoder, batch = make(), encode(TEXTS)
    with torch.inference_mode():
        first = encoder(batch).layers[-1]
        encoder(encode(["something else entirely"]))
        assert (encoder(batch).layers[-1] - first).abs().max() < 1e-6
        assert sorted(encoder.state_dict()) == sorted(name for name, _ in encoder.named_parameters())


def some_texts(n_texts):
    generator = torch.Generator().manual_seed(1)
    words = " ".join(TEXTS).split()
    picks = [torch.randint(0, len(words), (number % 23,), generator=generator) for number in range(n_texts)]
    return [" ".join(words[pick] for pick in text) for text in picks]


@pytest.mark.parametrize("config", [TINY, SMALL])
def test_company_and_order_do_not_change_a_sentence(config):
    texts, fresh = some_texts(64), [make(config, scale=1.0) for _ in range(5)]  # none has met a word before
    batch, order = encode(texts, config), torch.randperm(64)
    with torch.inference_mode():
        together, shuffled = fresh[0](batch), fresh[1](take(batch, order))
        sentences = [together.layers[-1][start:end] for start, end in pairwise(batch.offsets.tolist())]
        for number, (start, end) in zip(order.tolist(), pairwise(shuffled.offsets.tolist()), strict=True):
            assert (sentences[number] - shuffled.layers[-1][start:end]).abs().max() < 1e-6
        for number, encoder in zip((0, 22, 40), fresh[2:], strict=True):
            alone = encoder(encode([texts[number]], config))
            assert (sentences[number] - alone.layers[-1]).abs().max() < 1e-6


def test_every_gradient_is_that_of_a_plain_implementation():
    encoder = make().double()
    parameters = list(encoder.parameters())
    weights = [torch.randn(2 * TINY.width, dtype=torch.float64) for _ in encoder.widths]

    def gradients(layers):
        loss = sum((layer @ weight).sin().sum() for layer, weight in zip(layers, weights, strict=True))
        return torch.autograd.grad(loss, parameters)

    found = gradients(encoder(encode(TEXTS)).layers)
    wanted = gradients(plainly(encoder, TEXTS)[0])
    for one, other in zip(found, wanted, strict=True):
        assert other.abs().sum() > 0
        assert torch.allclose(one, other, atol=1e-9)


def test_a_step_of_training_is_seen():
    encoder, batch = make(scale=1.0), encode(TEXTS)
    optimizer = torch.optim.AdamW(encoder.parameters(), 0.01, fused=True)
    for _ in range(3):
        encoder.train()
        encoder(batch).layers[-1].sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        encoder.eval()
        with torch.inference_mode():
            found = encoder(batch).layers
        for one, other in zip(found, plainly(encoder, TEXTS)[0], strict=True):
            assert (one - other).abs().max() < 1e-5


def test_threads_do_not_disturb_each_other():
    encoder, batches = make(), [encode([text]) for text in TEXTS * 5]

    def run(batch):
        with torch.inference_mode():
            return encoder(batch).layers[-1]

    alone = [run(batch) for batch in batches]
    with ThreadPoolExecutor(4) as pool:
        for one, other in zip(pool.map(run, batches), alone, strict=True):
            assert (one - other).abs().max() < 1e-6


def test_dropout_is_for_training_only():
    encoder, batch = make(), encode(TEXTS)
    assert torch.equal(encoder(batch).layers[-1], encoder(batch).layers[-1])
    encoder.train()
    one, other = encoder(batch), encoder(batch)
    assert torch.equal(one.layers[0], other.layers[0])
    assert not torch.equal(one.layers[1], other.layers[1])


def test_eight_bits_stay_close():
    encoder, batch = make(SMALL, scale=1.0), encode(TEXTS, SMALL)
    with torch.inference_mode():
        wanted = encoder(batch).layers
        encoder.precision = "int8"
        found = encoder(batch).layers
    assert torch.equal(found[0], wanted[0])
    assert not torch.equal(found[-1], wanted[-1])
    assert torch.cosine_similarity(found[-1], wanted[-1]).min() > 0.999


def test_representations_are_one_vector_for_the_word_and_one_a_layer_and_direction():
    encoding = make()(encode(TEXTS))
    found = representations(encoding)
    assert list(found) == ["word", *(f"{side} {n}" for n in (1, 2, 3) for side in ("forward", "backward"))]
    assert torch.equal(encoding.layers[0], torch.cat([found["word"], found["word"]], 1))
    assert torch.equal(encoding.layers[2], torch.cat([found["forward 2"], found["backward 2"]], 1))
    assert torch.equal(direction(encoding, "backward").layers[3], found["backward 3"])
    assert torch.equal(direction(encoding, "forward").layers[0], found["word"])
    assert direction(encoding, "both") is encoding
    with pytest.raises(Mistake, match="'forward', 'backward' or 'both'"):
        direction(encoding, "sideways")


def test_forward_vectors_know_only_what_came_before():
    encoder = make()
    with torch.inference_mode():
        one = representations(encoder(encode(["a b c"])))
        other = representations(encoder(encode(["a b d"])))
    assert torch.equal(one["forward 3"][:3], other["forward 3"][:3])
    assert not torch.equal(one["forward 3"][3], other["forward 3"][3])
    assert not torch.equal(one["backward 3"][1], other["backward 3"][1])


def test_blocks_are_the_words_and_then_each_layer():
    encoder = make()
    assert encoder.blocks() == [encoder.words, *encoder.layers]
    held = [id(p) for block in encoder.blocks() for p in block.parameters()]
    assert sorted(held) == sorted(id(p) for p in encoder.parameters())


def test_a_state_of_other_rows_is_refused():
    encoder = make()
    with pytest.raises(Mistake, match="this batch wants"):
        encoder(encode(TEXTS[:2]), encoder(encode(TEXTS)).state)


def test_embedding_gives_one_vector_a_word():
    pretrained = Pretrained(CharacterTokenizer(TINY.max_characters), make())
    vectors = pretrained.embed(["one two three", "", "four"], layers="mix")
    assert [array.shape for array in vectors] == [(3, 12), (0, 12), (1, 12)]
    [alone] = pretrained.embed(["one two three"], layers="mix")
    assert abs(vectors[0] - alone).max() < 1e-6


def test_no_texts_have_no_vectors():
    with torch.inference_mode():
        encoding = make()(encode([]))
    assert [layer.shape for layer in encoding.layers] == [(0, 12)] * 4


def test_the_family_builds_it_again():
    elmo = family("elmo")
    config = elmo.config.model_validate_json(TINY.model_dump_json())
    assert config == TINY
    assert elmo.encoder(config).widths == (12, 12, 12, 12)


def test_the_released_sizes_have_the_published_number_of_parameters():
    with torch.device("meta"):
        sizes = [sum(p.numel() for p in ElmoEncoder(config).parameters()) for config in (ElmoConfig(), SMALL)]
    assert [round(size / 1e6, 1) for size in sizes] == [93.6, 13.6]


@pytest.mark.parametrize(
    "wrong", [{"filters": ((60, 4),)}, {"token_projection": False}, {"n_layers": 0}, {"unheard": 1}, {"filters": ()}]
)
def test_a_config_that_cannot_be_is_refused(wrong):
    with pytest.raises(ValidationError):
        ElmoConfig(**wrong)
