from dataclasses import replace

import pytest
from serving import ask

pytest.importorskip("fastapi")
from polyseme.adapt.texts import Texts
from polyseme.serve.app import make_app
from polyseme.serve.limits import Limits
from polyseme.serve.models import Model, Models, load_models
from polyseme.serve.service import Service

SHORT, LONG = "the film was good", "the film was good " * 30  # the model's window has 32 pieces


@pytest.fixture(scope="module")
def models(mixed):
    """One that reads whole texts, one that reads their first window, and one that reads pairs in one sequence."""
    whole = load_models([str(mixed / "films")]).named("films")
    first = replace(whole.fitted, settings=whole.fitted.settings.model_copy(update={"most_windows": 1}))
    pair = replace(whole.fitted, kind=replace(whole.fitted.kind, texts=Texts("joined")))
    fitted = {"whole": whole.fitted, "first": first, "pair": pair}
    tasks = {"whole": "classify", "first": "classify", "pair": "pair"}
    return Models({name: Model(name, whole.pretrained, one, tasks[name]) for name, one in fitted.items()})


@pytest.mark.parametrize("name", ["whole", "first", "pair"])
def test_a_text_longer_than_is_read_is_cut_off_unless_that_is_not_wanted(models, name):
    def status(text, path="/predict", **more):
        given = text if name != "pair" else [SHORT, text]
        body = {"inputs": given if path == "/predict" else [given], "model": name, **more}
        return ask(app, path, body).status

    long = 200 if name == "whole" else 413
    app = make_app(Service(models, Limits()))
    assert [status(SHORT), status(LONG), status(SHORT, truncate=False), status(LONG, truncate=False)] == [
        200, 200, 200, long,
    ]  # fmt: skip
    app = make_app(Service(models, Limits(cut_long=False)))
    assert [status(LONG, truncate=True), status(LONG), status(LONG, "/classify")] == [200, long, long]


@pytest.mark.parametrize("path", ["/predict", "/classify", "/"])
def test_more_numbers_than_a_reply_may_have_are_refused(models, path):
    app = make_app(Service(models, Limits(reply_numbers=10)))
    one = [SHORT] if path == "/predict" else SHORT
    few, many = ({"inputs": [one] * n, "model": "whole"} for n in (5, 6))  # of two classes
    assert (ask(app, path, few).status, ask(app, path, many).status) == (200, 413)
