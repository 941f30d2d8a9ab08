"""Models of every family and task, an app that serves them, and a server of its own."""

import pytest
import serving
from toys import questions, reviews, tagged

from polyseme.adapt.data import Data
from polyseme.adapt.fit import fit
from polyseme.adapt.folder import save as save_fitted
from polyseme.adapt.settings import Settings
from polyseme.formats import save


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("POLYSEME_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def folders(tmp_path_factory):
    """A folder a model: a BERT and an ELMo, and static vectors fitted to every task."""
    place = tmp_path_factory.mktemp("models")
    for name in ("bert", "elmo", "awd"):
        save(serving.FAMILIES[name](), place / name)
    settings = Settings(tune="frozen", epochs=3, head_rate=0.03, cache=False)
    films = reviews()
    pairs = Data([(text, text) for text in films.inputs], films.labels)
    numbers = Data(films.inputs, [1.0 if label == "pos" else 0.0 for label in films.labels])
    tasks = {"classify": films, "pair": pairs, "regress": numbers, "tag": tagged(), "span": questions()}
    for task, data in tasks.items():
        save_fitted(fit(serving.tiny_static(), task, data, settings), place / task, task)
    return place


@pytest.fixture(scope="session")
def mixed(tmp_path_factory):
    """A folder a model that was fitted with a mix of layers: films to classes, words to tags."""
    place = tmp_path_factory.mktemp("mixed")
    settings = Settings(layers="mix", tune="frozen", epochs=4, head_rate=0.03, cache=False)
    for name, task, data in (("films", "classify", reviews()), ("names", "tag", tagged())):
        save_fitted(fit(serving.tiny_bert(), task, data, settings), place / name, task)
    return place


@pytest.fixture(scope="session")
def service(folders):
    pytest.importorskip("fastapi")
    from polyseme.serve.limits import Limits
    from polyseme.serve.models import load_models
    from polyseme.serve.service import Service

    names = ("bert", "elmo", "awd", "classify", "pair", "regress", "tag", "span")
    return Service(load_models([str(folders / name) for name in names]), Limits(tokens_per_input=200, inputs=40))


@pytest.fixture(scope="session")
def app(service):
    from polyseme.serve.app import make_app

    return make_app(service)


@pytest.fixture(scope="session")
def server(folders):
    """A process that is not ended before the session is."""
    pytest.importorskip("fastapi")
    names = [folders / name for name in ("bert", "classify")]
    process = serving.Process(*names, "--receive", "1.5", "--head-bytes", "20000", "--body-bytes", "1000000")
    yield process
    assert process.end() == 0
    assert "Traceback" not in process.said
