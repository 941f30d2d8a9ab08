import csv

import pytest
from toys import reviews

import polyseme
from polyseme.adapt.runs import FitRun
from polyseme.domain import Domain
from polyseme.errors import Mistake

SETTINGS = {"tune": "gradual", "epochs": 2}


@pytest.fixture
def saved(request, tmp_path):
    """Small encoders by name, on disk."""

    def save(name):
        polyseme.save(request.getfixturevalue(f"tiny_{name}"), tmp_path / name)
        return tmp_path / name

    return save


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "reviews.csv"
    data = reviews(400)
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("text", "label"), *zip(data.inputs, data.labels, strict=True)])
    return path


@pytest.mark.parametrize("family", ["awd", "elmo", "bert"])
def test_the_text_is_read_before_the_labels_and_what_was_read_is_kept(family, saved, table, tmp_path):
    encoder = saved(family)
    before = polyseme.load(encoder)
    run = FitRun("classify", table, encoder, tmp_path / "run", SETTINGS, before=Domain(1))
    run.run(lambda report: None)
    after = polyseme.load(tmp_path / "run" / "domain")
    assert after.encoder.family == before.encoder.family
    assert any(
        one.shape != other.shape or bool((one != other).any())
        for one, other in zip(after.encoder.parameters(), before.encoder.parameters(), strict=True)
    )
    assert not (tmp_path / "run" / "domain.jsonl").exists()


def test_killed_between_the_stages_it_goes_on_and_ends_with_the_same_weights(saved, table, tmp_path):
    class Killed(BaseException):
        pass

    def die_at(stage):
        def tell(report):
            if report.stage == stage and report.done:
                raise Killed

        return tell

    encoder = saved("awd")
    runs = [FitRun("classify", table, encoder, tmp_path / name, SETTINGS, before=Domain(1)) for name in ("a", "b")]
    for stage in ("The task's own text: pretraining", "Fitting"):
        with pytest.raises(Killed):
            runs[0].run(die_at(stage))
    for run in runs:
        run.run(lambda report: None)
    weights = [
        (run.out / "fitted" / name).read_bytes()
        for name in ("top.safetensors", "model/model.safetensors")
        for run in runs
    ]
    assert weights[0] == weights[1]
    assert weights[2] == weights[3]


def rows(tmp_path, more_text, inputs, tiny_awd, monkeypatch):
    """How many rows the text is read in."""
    chosen = []
    monkeypatch.setattr("polyseme.domain.pretrain", lambda recipe, *rest, **options: chosen.append(recipe.rows))
    polyseme.save(tiny_awd, tmp_path / "encoder", force=True)
    Domain(1, more_text)(tmp_path / "encoder", inputs, tmp_path / "run", lambda report: None)
    return chosen[0]


def test_all_that_is_read_counts_when_the_rows_are_chosen(tiny_awd, tmp_path, monkeypatch):
    few = ["a short text"]
    assert rows(tmp_path, (), few, tiny_awd, monkeypatch) == 1
    (tmp_path / "more.txt").write_text("the river was high\n" * 4000)
    assert rows(tmp_path, (str(tmp_path / "more.txt"),), few, tiny_awd, monkeypatch) > 5
    assert rows(tmp_path, (), ["水が高い川の銀行" * 1000], tiny_awd, monkeypatch) > 1  # words without spaces


def test_static_vectors_are_refused(saved, table, tmp_path):
    run = FitRun("classify", table, saved("static"), tmp_path / "run", {"tune": "frozen"}, before=Domain(1))
    with pytest.raises(Mistake, match="does not go on with its pretraining"):
        run.run(lambda report: None)


def test_a_folder_begun_without_reading_the_text_is_not_gone_on_with(saved, table, tmp_path):
    encoder = saved("awd")
    FitRun("classify", table, encoder, tmp_path / "run", SETTINGS).run(lambda report: None)
    with pytest.raises(Mistake, match="before was not chosen"):
        FitRun("classify", table, encoder, tmp_path / "run", SETTINGS, before=Domain(1)).run(lambda report: None)
