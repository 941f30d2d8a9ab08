"""What /info tells of the models and the limits."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from polyseme import __version__
from polyseme.serve.models import Model
from polyseme.serve.predicting import labels_of
from polyseme.serve.service import Service


def info_of(service: Service) -> dict[str, Any]:
    """What Text Embeddings Inference tells, of the first model; then all models and limits."""
    limits, models = service.limits, list(service.models)
    first = models[0]
    return {
        "model_id": first.name,
        "model_sha": None,
        "model_dtype": "float32",
        "model_type": _type(first),
        "max_concurrent_requests": limits.connections,
        "max_input_length": first.sentences.window or limits.tokens_per_input,
        "max_batch_tokens": first.pretrained.encoder.budget,
        "max_batch_requests": None,
        "max_client_batch_size": limits.inputs,
        "auto_truncate": limits.cut_long,
        "tokenization_workers": 1,
        "version": __version__,
        "sha": None,
        "docker_label": None,
        "models": [_facts(model) for model in models],
        "limits": asdict(limits),
    }


def _type(model: Model) -> dict[str, Any]:
    if labels := labels_of(model):
        numbered = {str(place): label for place, label in enumerate(labels)}
        return {"classifier": {"id2label": numbered, "label2id": {label: int(n) for n, label in numbered.items()}}}
    return {"embedding": {"pooling": model.sentences.pooling}}


def _facts(model: Model) -> dict[str, Any]:
    encoder = model.pretrained.encoder
    return {
        "name": model.name,
        "family": encoder.family,
        "widths": list(encoder.widths),
        "task": model.task,
        "labels": labels_of(model) or None,
        "fills": model.pretrained.lm is not None,
        "reads_tokens": model.sentences.window,
    }
