import csv
import json
import shutil

import pytest
from toys import reviews

from polyseme.adapt.runs import FitRun
from polyseme.domain import Domain
from polyseme.errors import Mistake
from polyseme.formats import save


def quiet(report):
    pass


@pytest.fixture
def here(tmp_path, tiny_static):
    """An encoder and some tables in one folder."""
    save(tiny_static, tmp_path / "encoder")
    for name, seed in (("train", 0), ("valid", 1), ("test", 2)):
        data = reviews(40, seed)
        with (tmp_path / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([("text", "label"), *zip(data.inputs, data.labels, strict=True)])
    return tmp_path


def asked(here, **more):
    chosen = {"tune": "frozen", "epochs": 1, "cache": False}
    return FitRun("classify", here / "train.csv", here / "encoder", here / "run", chosen, **more)


def test_another_encoder_at_the_same_path_is_not_gone_on_with(here, tiny_bert):
    asked(here).run(quiet)
    save(tiny_bert, here / "encoder", force=True)
    with pytest.raises(Mistake, match="encoder was"):
        asked(here).run(quiet)


def test_a_rate_for_an_encoder_that_stays_frozen_is_refused(here):
    with pytest.raises(Mistake, match=r"rate=0\.1 is the encoder's, which stays frozen\. Set head_rate"):
        FitRun("classify", here / "train.csv", here / "encoder", here / "run", {"tune": "frozen", "rate": 0.1}).run(
            quiet
        )


def test_what_a_kill_left_of_a_fitted_model_is_cleared(here):
    asked(here).run(quiet)
    left = here / "run" / ".fitted.abc"
    left.mkdir()
    (left / "top.safetensors").write_bytes(b"half")
    asked(here).run(quiet)
    assert not left.exists()


def test_other_examples_to_choose_by_are_not_gone_on_with(here):
    asked(here, valid=here / "valid.csv").run(quiet)
    shutil.copy(here / "test.csv", here / "valid.csv")
    with pytest.raises(Mistake, match="valid was"):
        asked(here, valid=here / "valid.csv").run(quiet)


def test_other_text_at_the_same_path_is_other_text(tmp_path):
    (tmp_path / "more.txt").write_text("one")
    before = Domain(1, (str(tmp_path / "*.txt"),)).facts()
    (tmp_path / "more.txt").write_text("two")
    assert Domain(1, (str(tmp_path / "*.txt"),)).facts() != before


def test_the_same_from_another_place_is_the_same_run(here, monkeypatch):
    asked(here).run(quiet)
    moved = here.rename(here.parent / "moved")
    monkeypatch.chdir(moved)
    run = FitRun("classify", moved / "train.csv", moved / "encoder", moved / "run", asked(moved).chosen)
    run.run(lambda report: pytest.fail("it was all done") if report.stage == "Fitting" else None)
    assert json.loads((moved / "run" / "paths.json").read_text())["data"] == str(moved / "train.csv")
    moved.rename(here)


def test_a_finished_run_keeps_what_was_found_and_nothing_to_go_on_from(here):
    first = asked(here, test=here / "test.csv").run(quiet)
    (here / "run" / "checkpoints").mkdir()
    (here / "run" / "attempts.json").write_text("[0.5]")
    assert asked(here).run(quiet) == first
    assert json.loads((here / "run" / "result.json").read_text()) == first
    assert not {"checkpoints", "attempts.json"} & {path.name for path in (here / "run").iterdir()}


def test_a_learned_mix_is_among_what_was_found(here, tiny_bert):
    save(tiny_bert, here / "encoder", force=True)
    chosen = {"tune": "frozen", "layers": "mix", "epochs": 1, "cache": False}
    found = FitRun("classify", here / "train.csv", here / "encoder", here / "run", chosen).run(quiet)
    assert sum(found["mix"]["weights"]) == pytest.approx(1)
    assert len(found["mix"]["weights"]) == len(tiny_bert.encoder.widths)
