import errno
import fcntl
import os
import shutil
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from polyseme.adapt import store as store_module
from polyseme.adapt.frozen import encoder_digest, frozen_rows, reading_digest
from polyseme.adapt.inputs import pairs_in, texts_in
from polyseme.adapt.rows import reading
from polyseme.adapt.store import Shape, Store
from polyseme.errors import Mistake

TEXTS = ["the bank of the river was high .", "bats fly .", "spring came early , who said ?", " ".join(["word"] * 80)]


def rows(pretrained, store=None, pool="words", layers="mix", dtype="float32", inputs=None, calls=None):
    how = reading(pretrained, layers, pool)

    def tell(stage, done, total):
        calls.append(done) if calls is not None else None

    return frozen_rows(
        pretrained.encoder, inputs or texts_in(pretrained, TEXTS), how, store, dtype, tell, lambda s: None
    )


@pytest.mark.parametrize("layers", ["top", "mix", 0])
def test_cached_words_are_what_embed_gives(any_encoder, layers, tmp_path):
    if layers == "mix" and len(set(any_encoder.encoder.widths)) > 1:
        pytest.skip("its layers have unequal widths")
    found = rows(any_encoder, Store(tmp_path), layers=layers).take(torch.tensor([0, 2, 3]))
    number = {"top": -1, "mix": 0, 0: 0}[layers]
    wanted = np.concatenate(any_encoder.embed([TEXTS[i] for i in (0, 2, 3)], layers=number))
    np.testing.assert_allclose(found.layers[0].numpy(), wanted, atol=2e-6)


def test_what_is_cached_is_not_computed_again(tiny_bert, tmp_path):
    calls = []
    first = rows(tiny_bert, Store(tmp_path), calls=calls)
    assert calls
    calls.clear()
    again = rows(tiny_bert, Store(tmp_path), calls=calls)
    assert not calls
    assert all(np.array_equal(one, other) for one, other in zip(first.layers, again.layers, strict=True))


def test_other_weights_another_text_or_another_reading_are_computed_anew(tiny_bert, tmp_path):
    calls = []
    rows(tiny_bert, Store(tmp_path))
    rows(tiny_bert, Store(tmp_path), pool="mean", calls=calls)
    assert calls
    before = encoder_digest(tiny_bert.encoder)
    calls.clear()
    with torch.no_grad():
        tiny_bert.encoder.embeddings.norm.bias[3] += 1e-3
    rows(tiny_bert, Store(tmp_path), calls=calls)
    assert calls
    assert encoder_digest(tiny_bert.encoder) != before


def test_rows_of_another_precision_are_computed_anew(tiny_bert, tmp_path):
    calls = []
    rows(tiny_bert, Store(tmp_path))
    tiny_bert.encoder.precision = "int8"
    rows(tiny_bert, Store(tmp_path), calls=calls)
    assert calls


def test_float16_takes_half_the_room_and_is_near(tiny_bert, tmp_path):
    whole, half = rows(tiny_bert), rows(tiny_bert, Store(tmp_path), dtype="float16")
    assert half.layers[0].nbytes * 2 == whole.layers[0].nbytes
    np.testing.assert_allclose(half.layers[-1].astype(np.float32), whole.layers[-1], atol=4e-3)


def test_pairs_are_taken_two_texts_at_a_time(tiny_static, tmp_path):
    inputs = pairs_in(tiny_static, [(TEXTS[0], TEXTS[1]), (TEXTS[2], TEXTS[0])], "apart")
    found = rows(tiny_static, Store(tmp_path), pool="mean", layers="top", inputs=inputs).take(torch.tensor([1]))
    wanted = tiny_static.embed([TEXTS[2], TEXTS[0]], level="text")
    np.testing.assert_allclose(found.layers[0].numpy(), wanted, atol=1e-6)


def test_the_store_forgets_what_was_unused_for_longest(tmp_path):
    store = Store(tmp_path, bound=30_000)
    shape = Shape(1, (2500, 1), "float32")  # 10,000 bytes and a header

    def fill(arrays):
        arrays[0][:] = 1

    for key in ("a", "b"):
        store.arrays(key, shape, fill, lambda said: None)
    os.utime(tmp_path / "a" / "meta.json", (1, 1))
    store.arrays("c", shape, fill, lambda said: None)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b", "c"]


def test_a_damaged_entry_is_made_again(tmp_path):
    store, shape, made = Store(tmp_path), Shape(1, (10, 2), "float32"), []

    def fill(arrays):
        made.append(1)
        arrays[0][:] = 7

    store.arrays("k", shape, fill, lambda said: None)
    (tmp_path / "k" / "layer_0.npy").write_bytes(b"\x93NUMPY")
    assert store.arrays("k", shape, fill, lambda said: None)[0].sum() == 140
    (tmp_path / "k" / "manifest.json").unlink()  # as by a kill while it was removed
    (tmp_path / "k" / "layer_0.npy").unlink()
    assert store.arrays("k", shape, fill, lambda said: None)[0].sum() == 140
    assert len(made) == 3


def test_other_windows_are_other_ways_to_read(tiny_bert):
    shorter = replace(tiny_bert, tokenizer=tiny_bert.tokenizer.with_window(20))
    assert reading_digest(shorter) != reading_digest(tiny_bert)
    assert reading_digest(replace(shorter, tokenizer=tiny_bert.tokenizer)) == reading_digest(tiny_bert)


def left_behind(folder, seconds):
    """What a killed encoding leaves, so long ago."""
    folder.mkdir(parents=True)
    (folder / "layer_0.npy").write_bytes(b"\0" * 10_000)
    os.utime(folder, (time.time() - seconds,) * 2)


def test_what_a_killed_encoding_left_is_removed_and_what_others_are_filling_is_counted(tmp_path):
    store, shape = Store(tmp_path, bound=30_000), Shape(1, (2500, 1), "float32")
    store.arrays("a", shape, lambda arrays: None, lambda said: None)
    left_behind(tmp_path / ".old.x", seconds=3600)
    left_behind(tmp_path / ".new.x", seconds=1)
    left_behind(tmp_path / ".held.x", seconds=3600)
    handle = os.open(tmp_path / ".held.x", os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    store.arrays("b", shape, lambda arrays: None, lambda said: None)
    os.close(handle)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".held.x", ".new.x", "b"]


def test_a_folder_is_held_until_it_stands_in_its_place(tmp_path):
    held = []

    def fill(arrays):
        [folder] = tmp_path.glob(".*")
        os.utime(folder, (1, 1))
        held.append(not store_module._is_left_behind(folder))

    Store(tmp_path).arrays("a", Shape(1, (10, 1), "float32"), fill, lambda said: None)
    assert held == [True]


def test_entries_that_another_process_removes_are_passed_over(tmp_path, monkeypatch):
    store, shape = Store(tmp_path, bound=30_000), Shape(1, (2500, 1), "float32")
    store.arrays("a", shape, lambda arrays: None, lambda said: None)
    used = store_module._used

    def too_late(meta):
        shutil.rmtree(meta.parent, ignore_errors=True)
        return used(meta)

    monkeypatch.setattr(store_module, "_used", too_late)
    store.arrays("b", shape, lambda arrays: None, lambda said: None)
    assert [path.name for path in tmp_path.iterdir()] == ["b"]


def test_what_does_not_fit_is_refused_before_it_is_written(tmp_path):
    with pytest.raises(Mistake, match="POLYSEME_CACHE_GB"):
        Store(tmp_path, bound=100).arrays("k", Shape(1, (100, 1), "float32"), lambda arrays: None, lambda said: None)
    assert not list(tmp_path.iterdir())


def test_where_the_disk_is_full_it_is_said_and_nothing_is_left(tmp_path, monkeypatch):
    """A file with holes would be made without a word, and the process killed when they are written into."""

    def full(*facts):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(Mistake, match=r"No space left on device. Make room, .*POLYSEME_CACHE"):
        Store(tmp_path / "kept").arrays("k", Shape(2, (10, 2), "float32"), lambda arrays: None, lambda said: None)
    assert list((tmp_path / "kept").iterdir()) == []


def test_the_room_of_an_array_is_taken_before_it_is_filled(tmp_path):
    store, sizes = Store(tmp_path), []

    def fill(arrays):
        sizes.append(Path(arrays[0].filename).stat().st_blocks * 512)

    store.arrays("k", Shape(1, (100_000, 1), "float32"), fill, lambda said: None)
    assert sizes[0] >= 400_000
