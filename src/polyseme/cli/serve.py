"""polyseme serve: models behind HTTP."""

import os
import sys
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import fields
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar

import typer

from polyseme.serve.limits import Limits

Made = TypeVar("Made")

_DEFAULT = Limits()


def run(
    models: list[str] = typer.Argument(help="Encoders and fitted models: paths, or NAME=PATH."),
    host: str = typer.Option("127.0.0.1", help="The address to listen on."),
    port: int = typer.Option(8080, min=0, max=65535, help="0 takes any free one."),
    token_file: Path | None = typer.Option(
        None, help="A file with the token clients must send; or set POLYSEME_TOKEN."
    ),
    allow_host: list[str] = typer.Option(
        [], help="A name the server answers to beside addresses and localhost, or *; give it several times."
    ),
    precision: str = typer.Option("float32", help="int8 is about twice as fast with BERT and ELMo, and less exact."),
    report: Path | None = typer.Option(None, help="A comparison's report.html, to be shown at /report."),
    body_bytes: int = typer.Option(_DEFAULT.body_bytes, help="The largest body of a request."),
    inputs: int = typer.Option(_DEFAULT.inputs, help="Texts a request."),
    tokens_per_input: int = typer.Option(_DEFAULT.tokens_per_input, help="Tokens a text."),
    waiting_tokens: int = typer.Option(
        _DEFAULT.waiting_tokens, help="Tokens that may wait; beyond it the answer is 429."
    ),
    reply_numbers: int = typer.Option(_DEFAULT.reply_numbers, help="Numbers a reply."),
    deadline: float = typer.Option(_DEFAULT.deadline, help="Seconds to the answer of a request."),
    receive: float = typer.Option(_DEFAULT.receive, help="Seconds for a request to come in."),
    idle: float = typer.Option(_DEFAULT.idle, help="Seconds a connection is kept without a request."),
    head_bytes: int = typer.Option(_DEFAULT.head_bytes, help="The largest headers of a request."),
    connections: int = typer.Option(_DEFAULT.connections, help="Connections at a time."),
    drain: float = typer.Option(_DEFAULT.drain, help="Seconds to finish after SIGTERM."),
    cut_long: bool = typer.Option(_DEFAULT.cut_long, help="Whether texts longer than a model reads are cut off."),
) -> None:
    """Serve models over HTTP, as OpenAI, as Text Embeddings Inference and in our own way."""
    from polyseme.errors import MissingExtra

    given = locals()
    limits = Limits(**{field.name: given[field.name] for field in fields(Limits)})
    try:
        import fastapi  # noqa: F401
        import httptools  # noqa: F401
        import prometheus_client  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as absent:
        raise MissingExtra(str(absent.name), "serve", "polyseme serve") from None
    _serve(models, precision, limits, host, port, _token(token_file), allow_host, report)


def _serve(
    names: list[str], precision: Any, limits: Limits, host: str, port: int, token: str | None, hosts: list[str],
    report: Path | None,
) -> None:  # fmt: skip
    from polyseme.cli.progress import Stages
    from polyseme.serve.app import make_app
    from polyseme.serve.models import load_models
    from polyseme.serve.report import find
    from polyseme.serve.server import serve
    from polyseme.serve.service import Service

    report_file = find(report) if report else None
    with Stages() as stages:
        stages.show("Loading", 0, len(names))
        models = _in_a_thread(lambda: load_models(names, precision))
    service = Service(models, limits)
    app = make_app(service, token, [host, *hosts], report_file=report_file)
    serve(app, service, host, port, lambda port: _tell(models, host, port, token))
    sys.stderr.flush()
    os._exit(0)  # Python itself would wait for batches that nobody waits for any more


def _in_a_thread(make: Callable[[], Made]) -> Made:
    """What is made in a thread that ends, and OpenMP's helpers with it: those that compute later want the cores."""
    made: Future[Made] = Future()

    def run() -> None:
        try:
            made.set_result(make())
        except BaseException as error:  # it is raised where it is waited for
            made.set_exception(error)

    Thread(target=run, daemon=True).start()  # which Ctrl-C does not wait for
    return made.result()


def _tell(models: Any, host: str, port: int, token: str | None) -> None:
    address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    first, known = next(iter(models)), " -H 'Authorization: Bearer …'" if token else ""
    print(f"Serving {', '.join(model.name for model in models)} at {address}", file=sys.stderr)
    example = f"""curl {address}/v1/embeddings{known} -H 'Content-Type: application/json' """
    print(f"""  {example}-d '{{"model": "{first.name}", "input": "A crack in the wall"}}'""", file=sys.stderr)
    print(
        f"  {address} in a browser looks inside them; /info tells limits, /openapi.json every route; Ctrl-C ends it",
        file=sys.stderr,
        flush=True,
    )


def _token(file: Path | None) -> str | None:
    from polyseme.errors import Mistake

    try:
        token = file.read_text("utf-8") if file else os.environ.get("POLYSEME_TOKEN")
    except UnicodeDecodeError:
        raise Mistake(f"{file} is no text in UTF-8. Write a token there, letters and digits.") from None
    if token is not None and not token.strip():
        raise Mistake(f"The token in {file or 'POLYSEME_TOKEN'} is empty. Write one there, or ask for none.")
    return token.strip() if token else None
