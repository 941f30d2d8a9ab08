import pytest
from toys import reviews, tagged

from polyseme.comparison.plan import Axes, plan
from polyseme.comparison.sources import sources
from polyseme.errors import Mistake
from polyseme.formats import save


def planned(encoders, task="classify", data=None, **axes):
    return plan(task, Axes(**axes), sources(encoders), data or reviews(), "digest")


def test_the_plan_is_the_product_of_its_axes(bert):
    found = planned([bert], layers=("top", "mix"), tune=("frozen", "full"), labels=(20, "all"), seeds=(0, 1, 2))
    assert len(found.cells) == 2 * 2 * 2 * 3
    assert len({cell.id for cell in found.cells}) == len(found.cells)
    assert found.said == ()
    assert {cell.n_labels for cell in found.cells} == {20, 80}


def test_ids_depend_on_what_decides_the_result_and_on_nothing_else(bert, static):
    ids = [cell.id for cell in planned({"one": bert}).cells]
    assert [cell.id for cell in planned({"two": bert, "static": static}).cells[:3]] == ids
    assert not set(ids) & {cell.id for cell in planned({"one": bert}, chosen=(("epochs", 7),)).cells}
    assert not set(ids) & {cell.id for cell in planned({"one": static}).cells}


def test_what_cannot_be_is_left_out_and_said(awd, bert, static):
    found = planned({"awd": awd, "bert": bert, "words": static}, layers=("top", "mix", "last4"))
    assert [(way.encoder, way.layers) for way in found.ways] == [
        ("awd", "top"), ("bert", "top"), ("bert", "mix"), ("words", "top"),
    ]  # fmt: skip
    said = "\n".join(found.said)
    assert "awd with layers=mix, tune=frozen is left out: layers='mix' needs layers of one width" in said
    assert "words with layers=mix is left out: it reads what layers=top does." in said
    assert "bert with layers=last4, tune=frozen is left out: layers='last4' was asked for" in said


def test_a_head_of_another_level_leaves_nothing(bert):
    with pytest.raises(Mistake, match=r"Nothing is left to compare.*head='ulmfit' is none"):
        planned([bert], task="tag", data=tagged(), chosen=(("head", "ulmfit"),))


def test_more_labels_than_there_are_are_all_of_them(static):
    found = planned([static], labels=(1000, "all"), seeds=(0,))
    assert [cell.n_labels for cell in found.cells] == [80]
    assert "1,000 labels were asked for; there are 80" in found.said[0]


def test_from_scratch_is_a_row_of_its_own(bert):
    found = planned([bert], seeds=(0,), scratch=True)
    assert [str(way) for way in found.ways] == ["bert · top · frozen", "bert · from scratch · top · full"]


def test_encoders_are_told_apart_by_name(bert, static, tmp_path):
    assert [source.name for source in sources([bert, static, bert])] == ["bert", "static", "bert (2)"]
    save(static, tmp_path / "glove" / "model")
    named = sources([f"mine={tmp_path / 'glove' / 'model'}", str(tmp_path / "glove" / "model")])
    assert [source.name for source in named] == ["mine", "glove"]
    assert named[0].digest == named[1].digest == sources([static])[0].digest
    with pytest.raises(Mistake, match="no encoder to compare"):
        sources([])


def test_what_is_named_twice_is_fitted_once(static):
    axes = {"layers": ("top", "top"), "tune": ("frozen",) * 2, "labels": (20, 20), "seeds": (0, 1, 0)}
    assert len(planned([static], **axes).cells) == 2


@pytest.mark.parametrize(
    "axes, problem",
    [
        ({"labels": (1,)}, "labels=1 cannot be learned from"),
        ({"labels": ("20",)}, "labels='20' cannot be learned from"),
        ({"seeds": ()}, "An axis of the comparison is empty"),
        ({"seeds": (-1,)}, "seed=-1"),
        ({"chosen": (("seed", 7),)}, "Give seeds"),
        ({"chosen": (("tune", "full"),)}, "Give tune"),
        ({"layers": ("--1",)}, "layers='--1' cannot be"),
    ],
)
def test_axes_say_what_is_wrong_with_them(axes, problem):
    with pytest.raises(Mistake, match=problem):
        Axes(**axes).check()


def test_a_layer_that_was_written_is_the_number_of_it(bert):
    assert [way.layers for way in planned([bert], layers=("top", "1")).ways] == ["top", 1]


def test_settings_of_a_mix_are_for_the_mixes_among_the_rows(bert):
    mixed = (("mix_norm", True), ("mix_penalty", 0.1))
    found = planned([bert], layers=("mix", "top"), scratch=True, chosen=mixed)
    assert {way.layers for way in found.ways} == {"mix", "top"}
    assert {cell.settings.mix_norm for cell in found.cells if cell.way.layers == "mix"} == {True}
    assert {cell.settings.mix_norm for cell in found.cells if cell.way.layers == "top"} == {False}
    with pytest.raises(Mistake, match="mix_norm and mix_penalty are for layers='mix'"):
        planned([bert], layers=("top",), chosen=mixed)


def test_a_setting_at_its_default_is_as_if_it_were_not_there(bert):
    one, other = planned({"one": bert}), planned({"one": bert}, chosen=(("average", 0.0),))
    assert [cell.id for cell in one.cells] == [cell.id for cell in other.cells]
