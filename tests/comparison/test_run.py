import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from toys import questions, reviews, tagged

from polyseme.adapt import session
from polyseme.adapt.data import Data
from polyseme.adapt.frozen import encoder_digest
from polyseme.comparison import run
from polyseme.comparison.compare import compare
from polyseme.comparison.results import Results
from polyseme.errors import Mistake
from polyseme.formats import save

ROOT = Path(__file__).resolve().parents[2]


def lines(folder):
    """What was found, without what it cost."""
    found = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    return [{name: value for name, value in line.items() if name != "cost"} for line in found]


def stopped_after(asked, n):
    steps = asked.steps()
    for _ in range(n):
        next(steps)
    steps.close()


class Stop(Exception):
    """Stands for a kill in the middle of a fit."""


def stopper(n_epochs):
    seen = []

    def tell(report):
        if report.metrics:
            seen.append(report)
        if len(seen) == n_epochs:
            raise Stop

    return tell


def test_fits_that_failed_are_told_in_the_table(static, tmp_path):
    chosen = {"tune": ["frozen", "full"], "seeds": 1, "rate": 1e38, "epochs": 1}
    table = compare("classify", reviews(60), {"words": static}, out=tmp_path / "out", test=reviews(30, 1), **chosen)
    assert [row.way.tune for row in table.rows] == ["frozen"]
    assert any("fail" in line for line in table.said)


def test_a_comparison_stopped_anywhere_ends_as_one_that_was_not(asked, tmp_path):
    whole = list(asked("whole").steps())
    assert len(whole) == 2 * 2 * 2 * 2
    stopped_after(asked("parts"), 3)
    with pytest.raises(Stop):
        list(asked("parts").steps(stopper(3)))
    with (tmp_path / "parts" / "results.jsonl").open("ab") as file:
        file.write(b'{"id": "cut sho')
    again = list(asked("parts").steps())
    assert [cell.id for cell, _ in again] == [cell.id for cell, _ in whole]
    assert lines(tmp_path / "parts") == lines(tmp_path / "whole")
    assert not list(asked("parts").steps(lambda report: pytest.fail("it was all done")))[16:]


def test_a_long_fit_goes_on_where_it_was(asked, tmp_path, monkeypatch):
    monkeypatch.setattr(run, "_LONG", 0)
    monkeypatch.setattr(session, "_SAVE_EVERY", 0.0)
    fast = (("epochs", 4), ("head_rate", 0.1), ("rate", 0.01))
    axes = {"tune": ("full",), "labels": ("all",), "seeds": (0,), "chosen": fast}
    list(asked("whole", **axes).steps())
    with pytest.raises(Stop):
        list(asked("parts", **axes).steps(stopper(3)))
    assert list((tmp_path / "parts" / "running").iterdir())
    epochs = []
    steps = asked("parts", **axes).steps(lambda report: epochs.append(1) if report.metrics else None)
    next(steps)
    assert len(epochs) in (1, 2)  # of four; killed while it was saved, it repeats one
    list(steps)
    assert lines(tmp_path / "parts") == lines(tmp_path / "whole")
    assert not list((tmp_path / "parts" / "running").iterdir())


def test_answers_that_were_lost_are_made_again(asked, tmp_path):
    list(asked().steps())
    before = lines(tmp_path / "run")
    (tmp_path / "run" / "predictions" / f"{before[0]['id']}.json.gz").unlink()
    assert [line["id"] for _, line in asked().steps()].count(before[0]["id"]) == 1
    assert lines(tmp_path / "run") == [*before, before[0]]


def test_more_seeds_and_labels_add_fits_and_repeat_none(asked, tmp_path):
    list(asked(seeds=(0,), labels=("all",)).steps())
    before = lines(tmp_path / "run")
    list(asked(seeds=(0, 1), labels=(20, "all")).steps())
    after = lines(tmp_path / "run")
    assert after[: len(before)] == before
    assert len(after) == len({line["id"] for line in after}) == 16


def test_another_data_set_wants_another_folder(asked, tmp_path):
    stopped_after(asked(), 1)
    with pytest.raises(Mistake, match="begun with another data"):
        next(asked(data=reviews(170, seed=5)).steps())
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("mine")
    with pytest.raises(Mistake, match="files of its own"):
        next(asked("mine").steps())


def test_every_text_is_read_once_by_each_frozen_encoder(asked, monkeypatch):
    from polyseme.adapt import session

    made = []
    real = session.frozen_rows

    def counted(encoder, inputs, *rest):
        made.append((encoder.family, inputs.n_examples))
        return real(encoder, inputs, *rest)

    monkeypatch.setattr(session, "frozen_rows", counted)
    found = [line for _, line in asked(tune=("frozen",)).steps()]
    assert [family for family, _ in made] == ["static", "bert"]
    assert [line["cost"]["found_in_cache"] for line in found] == [False, True, True, True] * 2


def test_an_encoder_is_put_back_after_it_learned(asked, bert, static):
    before = [encoder_digest(one.encoder) for one in (bert, static)]
    bert.encoder.train()
    list(asked(tune=("full", "gradual"), scratch=True, labels=(20,), seeds=(0,)).steps())
    assert [encoder_digest(one.encoder) for one in (bert, static)] == before
    assert bert.encoder.training
    assert all(parameter.requires_grad for one in (bert, static) for parameter in one.encoder.parameters())


def test_a_shared_fit_comes_to_what_a_lone_one_does(asked, bert):
    from polyseme.adapt.fit import fit
    from polyseme.comparison.subsets import subset

    one = asked(labels=(40,), seeds=(1,))
    for cell, line in one.steps():
        if cell.way.encoder == "bert":
            data = subset(one.parts.train, 40, 1, classes=True)
            begin = {name: tensor.clone() for name, tensor in bert.encoder.state_dict().items()}
            scores = fit(bert, "classify", data, cell.settings, one.parts.valid).evaluate(one.parts.test)
            bert.encoder.load_state_dict(begin)
            assert scores == pytest.approx(line["scores"])


HOPELESS = {"tune": ("frozen", "full"), "labels": (20,), "seeds": (0,),
            "chosen": (("epochs", 2), ("rate", 1e30), ("warm_up", 0.0))}  # fmt: skip


def test_a_fit_that_fails_is_said_and_the_others_go_on(asked):
    one = asked(**HOPELESS)
    failed = {line["tune"] for _, line in one.steps() if "error" in line}
    assert failed == {"full"}
    table = one.table()
    assert [row.way.tune for row in table.rows] == ["frozen", "frozen"]
    assert sum("failed" in line for line in table.said) == 2


def test_of_a_long_fit_that_fails_nothing_is_kept_to_go_on_from(asked, monkeypatch, tmp_path):
    monkeypatch.setattr("polyseme.comparison.run._LONG", 0)
    monkeypatch.setattr("polyseme.adapt.session._SAVE_EVERY", 0.0)
    assert any("error" in line for _, line in asked(**HOPELESS).steps())
    assert not list((tmp_path / "run").glob("running/*"))


def test_a_fit_that_failed_is_tried_again(asked, monkeypatch):
    axes = {"tune": ("frozen",), "labels": (20,)}
    monkeypatch.setenv("POLYSEME_CACHE_GB", "1e-7")
    assert all("error" in line for _, line in asked(**axes).steps())
    assert not asked(**axes).table().rows
    monkeypatch.delenv("POLYSEME_CACHE_GB")
    one = asked(**axes)
    assert all("scores" in line for _, line in one.steps())
    assert [row.n_failed for row in one.table().rows] == [0, 0]
    assert not any("failed" in line for line in one.table().said)


def test_a_damaged_folder_and_examples_that_are_none_are_said(asked, static, tmp_path):
    stopped_after(asked(), 1)
    (tmp_path / "run" / "comparison.json").write_text('{"task": ')
    with pytest.raises(Mistake, match="is damaged"):
        next(asked().steps())
    with pytest.raises(Mistake, match=r"found 0\.2"):
        compare("classify", reviews(), [static], valid=0.2, out=tmp_path / "other")


@pytest.mark.parametrize("task, data", [("tag", tagged(120)), ("span", questions(60)), ("regress", None)])
def test_other_tasks_are_compared_too(task, data, static, bert, tmp_path):
    if data is None:
        data = Data(reviews(120).inputs, [5.0 if label == "pos" else 1.0 for label in reviews(120).labels])
    table = compare(task, data, [static, bert], seeds=2, labels=[20, "all"], out=tmp_path / "run", epochs=2)
    assert len(table.rows) == 4
    assert table.rows[0].n_labels > table.rows[-1].n_labels == 20
    assert all(row.low <= row.score <= row.high for row in table.rows)
    assert table.score in str(table).replace(" ", "_")
    assert "<table>" in table.report.read_text()


def test_rows_say_what_they_cost_and_how_sure_they_are(asked):
    one = asked(layers=("top", "mix"), chosen=(("epochs", 3), ("head_rate", 0.1)))
    list(one.steps())
    rows = one.table().rows
    assert [row.rank for row in rows if row.n_labels == 20] == list(range(1, 7))
    frozen = next(row for row in rows if (row.way.encoder, row.way.layers, row.way.tune) == ("bert", "mix", "frozen"))
    assert frozen.parameters == 16 * 2 + 2 + 3 + 1
    assert frozen.words_per_second > 0
    assert all(row.p_best is None for row in rows if row.rank == 1)
    baseline = [row for row in rows if (row.way.encoder, row.way.tune) == ("words", "frozen")]
    assert baseline
    assert all(row.p_static is None for row in baseline)
    assert all(0 < row.p_static <= 1 for row in rows if row not in baseline)


def test_a_killed_process_goes_on(static, bert, tmp_path):
    save(static, tmp_path / "words")
    save(bert, tmp_path / "bert")
    rows = [f"{text},{label}" for text, label in zip(reviews(160).inputs, reviews(160).labels, strict=True)]
    (tmp_path / "data.csv").write_text("text,label\n" + "\n".join(row.replace(" ,", "") for row in rows) + "\n")
    command = [sys.executable, "-m", "polyseme", "compare", "classify", "data.csv", "--encoder", "words", "bert",
               "--seeds", "5", "--epochs", "2"]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}

    def begin(out):
        return subprocess.Popen([*command, "--out", out], cwd=tmp_path, env=environment, stderr=subprocess.PIPE)

    whole = begin("whole")
    assert whole.wait() == 0, whole.stderr.read().decode()
    killed = begin("parts")
    path = tmp_path / "parts" / "results.jsonl"
    while killed.poll() is None and not (path.exists() and path.read_bytes().count(b"\n") >= 4):
        time.sleep(0.002)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert begin("parts").wait() == 0
    assert lines(tmp_path / "parts") == lines(tmp_path / "whole")
    assert (tmp_path / "parts" / "report.html").is_file()


def test_results_of_other_data_in_a_line_do_not_hurt(tmp_path):
    (tmp_path / "results.jsonl").write_bytes(b'{"id": 3}\n[]\nnonsense\n{"id": "a", "error": "x"}\n')
    assert Results(tmp_path).lines == {"a": {"id": "a", "error": "x"}}
