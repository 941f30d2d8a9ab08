import json
import multiprocessing
import os
import signal
import subprocess
import sys
from itertools import pairwise

import numpy as np
import psutil
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from polyseme.errors import BadData, BadFile, Mistake
from polyseme.files import damage
from polyseme.text import shards
from polyseme.text.words import sentence_ends, words_in

TEXT = """The cat sat. The dog ran, and the cat did not.
Why? Because.

It's 5 p.m. in the U.S. He sleeps…

漢字 and naïve cafés, 👨‍👩‍👧‍👦 and all."""

# white space, controls, no characters, halves of surrogate pairs, direction marks, marks that combine, emoji
UGLY = [
    *"aZ9é漢한.,!?'\"-_@",
    *" \t\n\r\x0b\x1c\x85\xa0\u2028",
    *"\x00\x1b\x7f\ufffe\ud800\udfff",
    *"\u200e\u202e\u2066\ufeff",
]
UGLY += ["\u0301", "\u200d", "👨‍👩‍👧‍👦", "👍🏽", "🇬🇧", "❤️", "x" * 3000, "http://", "<unk>", "\\n", '{"']
documents = st.lists(st.lists(st.sampled_from(UGLY), max_size=30).map("".join), min_size=1, max_size=6)


def write(path, content):
    path.write_text(content)
    return path


def words_of(built):
    """All documents as lists of sentences of words."""
    return [[built.words(i) for i in built.document(d)] for d in range(built.meta.n_documents)]


def files_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def wanted(documents):
    """What shards of these strings should read back as, by way of the splitter alone."""
    found = []
    for document in documents:
        sentences = []
        for line in document.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
            words = words_in("".join("�" if "\ud800" <= c <= "\udfff" else c for c in line))
            sentences += [words[start:end] for start, end in pairwise([0, *sentence_ends(words)])]
        found.append(sentences)
    return [sentences for sentences in found if sentences]


@pytest.fixture
def built(tmp_path):
    return shards.build(write(tmp_path / "a.txt", TEXT), tmp_path / "shards", processes=1)


def test_shards_read_back_to_sentences_of_words(built):
    assert words_of(built) == [
        [
            ["The", "cat", "sat", "."],
            ["The", "dog", "ran", ",", "and", "the", "cat", "did", "not", "."],
            ["Why", "?"],
            ["Because", "."],
        ],
        [["It", "'s", "5", "p.m.", "in", "the", "U.S."], ["He", "sleeps", "…"]],
        [["漢", "字", "and", "naïve", "cafés", ",", "👨‍👩‍👧‍👦", "and", "all", "."]],
    ]


def test_ids_are_ranks_by_falling_frequency(built):
    assert list(built.types)[:6] == [".", "and", ",", "The", "cat", "the"]
    assert built.counts[:6].tolist() == [4, 3, 2, 2, 2, 2]
    assert np.bincount(built.ids, minlength=len(built.types)).tolist() == built.counts.tolist()
    assert (np.diff(built.counts) <= 0).all()
    assert built.unknown is None


def test_the_folder_says_what_is_in_it(built, tmp_path):
    meta = json.loads((built.folder / "meta.json").read_text())
    assert (meta["n_words"], meta["n_sentences"], meta["n_documents"]) == (38, 7, 3)
    assert meta["n_types"] == len(built.types) == len(built.counts)
    assert meta["n_bytes"] == len(TEXT.replace("\n", "").encode())
    assert meta["sources"][0]["size"] == (tmp_path / "a.txt").stat().st_size
    assert len(meta["sources"][0]["sha256"]) == 64
    assert (built.ids.dtype, built.sentences.dtype, built.documents.dtype) == (np.uint32, np.int64, np.int64)
    assert isinstance(built.ids, np.memmap)
    assert damage(built.folder) is None


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(documents)
def test_ugly_documents_read_back_to_their_words(tmp_path, documents):
    lines = [json.dumps({"text": text}) for text in documents]
    path = write(tmp_path / "a.jsonl", "".join(f"{line}\n" for line in lines))
    expected = wanted([json.loads(line)["text"] for line in lines])  # two halves of a pair become one character
    if not expected:
        with pytest.raises(Mistake, match="No word in"):
            shards.build(path, tmp_path / "shards", processes=1, force=True)
        return
    built = shards.build(path, tmp_path / "shards", processes=1, chunk_characters=40, force=True)
    assert words_of(built) == expected
    assert sorted(built.types) == sorted({word for document in expected for words in document for word in words})
    for offsets in (built.sentences, built.documents):
        assert (np.diff(offsets) > 0).all()


def test_processes_and_chunks_change_no_byte(tmp_path, monkeypatch):
    monkeypatch.setattr("polyseme.text.corpus._LONGEST_PASSAGE", 50)
    for number in range(3):
        lines = [f"{TEXT} Word{number * i % 7} w{i}. " * (i % 4) for i in range(30)]
        write(tmp_path / f"{number}.txt", "\n".join(lines))
    variants = [(1, 1_000_000), (1, 1), (2, 100), (2, 5000), (3, 1_000_000)]
    built = [
        files_of(
            shards.build(
                tmp_path / "*.txt", tmp_path / f"shards{i}", processes=processes, chunk_characters=size, max_types=40
            ).folder
        )
        for i, (processes, size) in enumerate(variants)
    ]
    assert json.loads(built[0]["meta.json"])["n_unknown"] > 0
    assert all(files == built[0] for files in built)


def test_processes_may_be_spawned(tmp_path, monkeypatch):
    spawn = multiprocessing.get_context("spawn")
    monkeypatch.setattr(multiprocessing, "get_context", lambda: spawn)
    path = write(tmp_path / "a.txt", TEXT)
    two = shards.build(path, tmp_path / "two", processes=2, chunk_characters=20)
    one = shards.build(path, tmp_path / "one", processes=1)
    assert files_of(two.folder) == files_of(one.folder)


def test_rare_words_beyond_the_limit_are_one_unknown_type(tmp_path):
    built = shards.build(write(tmp_path / "a.txt", "a b c a d c c c"), tmp_path / "shards", max_types=2, processes=1)
    assert built.words(0) == ["a", "b", "<unk>", "a", "<unk>", "<unk>", "<unk>", "<unk>"]
    assert list(built.types) == ["a", "b", "<unk>"]
    assert (built.unknown, built.meta.n_unknown) == (2, 5)


def test_documents_come_in_the_order_of_the_files(tmp_path):
    for name in ("b", "c", "a"):
        write(tmp_path / f"{name}.txt", f"file {name}")
    built = shards.build([tmp_path / "c.txt", tmp_path], tmp_path / "shards", processes=2, chunk_characters=1)
    assert words_of(built) == [[["file", name]] for name in "abc"]


def test_progress_rises_to_all_bytes(tmp_path):
    write(tmp_path / "a.txt", TEXT * 50)
    write(tmp_path / "b.txt", TEXT)
    total = sum(path.stat().st_size for path in tmp_path.iterdir())
    done = []
    shards.build(
        tmp_path, tmp_path / "shards", processes=1, chunk_characters=500, on_progress=lambda *n: done.append(n)
    )
    assert [n for n, _ in done] == sorted(n for n, _ in done)
    assert done[-1] == (total, total)
    assert {of for _, of in done} == {total}


def test_a_folder_is_not_overwritten_unless_asked(built, tmp_path):
    path = write(tmp_path / "b.txt", "other")
    with pytest.raises(BadFile, match="is there already"):
        shards.build(path, built.folder)
    assert words_of(shards.build(path, built.folder, processes=1, force=True)) == [[["other"]]]


def test_text_without_words_is_refused(tmp_path):
    with pytest.raises(Mistake, match=r"No word in .*a\.txt"):
        shards.build(write(tmp_path / "a.txt", " \n\x00\u200e\n"), tmp_path / "shards", processes=1)
    assert not (tmp_path / "shards").exists()


@pytest.mark.parametrize("processes", [1, 2])
def test_an_interrupted_build_leaves_nothing(tmp_path, processes):
    def interrupt(done, total):
        raise KeyboardInterrupt

    path = write(tmp_path / "a.txt", TEXT * 100)
    with pytest.raises(KeyboardInterrupt):
        shards.build(path, tmp_path / "s", processes=processes, chunk_characters=99, on_progress=interrupt)
    assert list(tmp_path.iterdir()) == [path]
    assert not multiprocessing.active_children()


def test_bad_bytes_stop_a_build_with_their_place(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"fine\n" * 1000 + b"bad \xff\n")
    with pytest.raises(BadData, match=r"a\.txt, line 1001: byte 5,004"):
        shards.build(tmp_path / "a.txt", tmp_path / "shards", processes=2, chunk_characters=100)
    assert shards.build(tmp_path / "a.txt", tmp_path / "shards", processes=1, errors="replace").types[-1] == "�"


def test_a_file_that_changes_meanwhile_is_refused(tmp_path):
    path = write(tmp_path / "a.txt", TEXT)
    with pytest.raises(BadData, match="changed while it was read"):
        shards.build(path, tmp_path / "s", processes=1, on_progress=lambda *_: write(path, TEXT + " more"))


def test_a_killed_build_leaves_a_hidden_folder_and_no_process(tmp_path):
    write(tmp_path / "a.txt", TEXT * 5000)
    script = (
        "import sys, time; from pathlib import Path; from polyseme.text import shards\n"
        "def wait(*_): print('working', flush=True); time.sleep(60)\n"
        "if __name__ == '__main__': shards.build(sys.argv[1], Path(sys.argv[2]), processes=2, on_progress=wait)\n"
    )
    program = write(tmp_path / "build.py", script)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, program, tmp_path / "a.txt", tmp_path / "shards"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout.readline() == b"working\n"
        workers = psutil.Process(process.pid).children()
        assert len(workers) == 2
        process.send_signal(signal.SIGKILL)
    _, alive = psutil.wait_procs(workers, timeout=20)
    assert not alive
    left = {path.name for path in tmp_path.iterdir()} - {"a.txt", "build.py"}
    assert left
    assert all(name.startswith(".shards.") for name in left)


@pytest.mark.parametrize("name", ["ids", "sentences", "documents", "types", "type_offsets", "counts"])
def test_a_folder_with_a_damaged_array_is_refused(built, name):
    path = built.folder / f"{name}.npy"
    content = path.read_bytes()
    for damaged in (content[:-3], content + b"xyz", content[:60], None):
        path.unlink() if damaged is None else path.write_bytes(damaged)
        with pytest.raises(BadFile, match=rf"{name}\.npy.*Build the shards again"):
            shards.open(built.folder)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "damaged"),
        ("[]", "damaged"),
        ('{"version": 1}', "damaged: .*missing"),
        (None, r"No meta\.json in .*; found counts\.npy"),
    ],
)
def test_a_folder_with_damaged_meta_is_refused(built, content, message):
    path = built.folder / "meta.json"
    path.unlink() if content is None else path.write_text(content)
    with pytest.raises(BadFile, match=rf"{message}.*Build the shards again"):
        shards.open(built.folder)


@pytest.mark.parametrize(("key", "value"), [("version", 99), ("n_words", 0), ("n_words", 37), ("n_types", "many")])
def test_meta_that_does_not_fit_the_arrays_is_refused(built, key, value):
    path = built.folder / "meta.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), key: value}))
    with pytest.raises(BadFile, match="Build the shards again"):
        shards.open(built.folder)


def test_a_folder_that_is_not_there_is_said(tmp_path):
    with pytest.raises(BadFile, match=r"No meta\.json in .*nowhere"):
        shards.open(tmp_path / "nowhere")


def test_the_validation_corpus_reads_back(shared, tmp_path):
    path = shared / "data" / "corpus" / "english.valid.txt.zst"
    built = shards.build(path, tmp_path / "shards")
    text = zstandard.open(path, "rt", encoding="utf-8").read()
    sentences = [words for document in wanted(text.split("\n\n")) for words in document]
    assert np.diff(built.sentences).tolist() == [len(words) for words in sentences]
    assert built.types.spelling(built.ids) == [word for words in sentences for word in words]
    assert built.meta.n_documents == 641
