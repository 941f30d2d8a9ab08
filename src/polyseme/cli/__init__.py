"""The command `polyseme`: one file a verb, imported only when that verb is chosen."""

import functools
import io
import signal
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import typer

from polyseme import __version__
from polyseme.errors import Mistake

VERBS = {
    "demo": "See what pretraining buys, with the encoders in the box.",
    "models": "List the encoders in the box and those that were fetched.",
    "pretrain": "Make an encoder from raw text.",
    "embed": "Turn texts into vectors, one a word, a piece or a text.",
    "fit": "Fit an encoder to a task: classes, pairs, numbers, tags, answers.",
    "compare": "Fit many encoders in many ways, and rank them.",
    "evaluate": "Measure a fitted model on labelled examples.",
    "predict": "Tell what a fitted model says of texts.",
    "score": "Tell the perplexity of sentences under a language model.",
    "fill": "Fill the [MASK] in a text.",
    "next": "Tell whether one text follows another.",
    "neighbors": "List the words nearest to a word.",
    "senses": "Tell how alike a word is in several sentences, layer by layer, and what senses it has.",
    "lens": "Measure what the layers of encoders know: senses, tags, grammar, similarity.",
    "study": "Make a table from runs that differ in one thing: the mask rate, the layers read.",
    "serve": "Serve models over HTTP: vectors, words, classes, tags, answers.",
    "convert": "Write a model of any format as a folder of ours, or as another format.",
    "inspect": "Tell what a model is, where it comes from and whether its files are whole.",
}


def main() -> None:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a letter shows a question mark
    arguments = sys.argv[1:]
    if "--json" in arguments and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # as JSON is, whatever the terminal can show
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what is half written is removed on the way out
    named = [word for word in arguments if not word.startswith("-")]
    chosen = named[0] if named else None  # not next(): once its file is imported, that is the verb in here
    module = import_module(f"polyseme.cli.{chosen}") if chosen in VERBS else None
    app = _app(chosen, module.run if module else None)
    app(spread(arguments, getattr(module, "LISTS", ())), prog_name="polyseme")


def spread(arguments: Sequence[str], lists: Sequence[str]) -> list[str]:
    """Let an option of `lists` take several values, as a shell's glob gives them.

    >>> spread(["pretrain", "--corpus", "a.txt", "b.txt", "--out", "run"], ["--corpus"])
    ['pretrain', '--corpus', 'a.txt', '--corpus', 'b.txt', '--out', 'run']
    """
    out: list[str] = []
    current: str | None = None
    for place, word in enumerate(arguments):
        if word.startswith("-") and word[1:] and not word[1].isdigit():  # -1 is a value
            name = word.partition("=")[0]
            current = name if name in lists else None
        elif current and arguments[place - 1] != current:
            out.append(current)
        out.append(word)
    return out


def _app(chosen: str | None, run: Callable[..., Any] | None) -> typer.Typer:
    app = typer.Typer(
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        help="Static vectors, ELMo, AWD-LSTM and BERT in one home: pretrain, convert, embed, look inside.",
    )
    app.callback()(_options)
    for verb, purpose in VERBS.items():
        if verb == chosen and run is not None:
            app.command(verb)(_guarded(run))
        else:
            app.command(verb, help=purpose)(_never_called)
    return app


def _tell_version(asked: bool) -> None:
    if asked:
        print(__version__)
        raise typer.Exit


def _options(
    version: bool = typer.Option(False, "--version", help="Tell the version.", is_eager=True, callback=_tell_version),
) -> None:
    pass


def _never_called() -> None:
    """Stands for a verb in the list of verbs; the chosen one is registered itself."""


def _guarded(run: Callable[..., Any]) -> Callable[..., Any]:
    """Tell a person's mistake in one line and leave with the right code: 1 failed, 130 interrupted."""

    @functools.wraps(run)
    def guarded(*values: Any, **options: Any) -> Any:
        try:
            return run(*values, **options)
        except Mistake as mistake:
            print(f"polyseme: {mistake}", file=sys.stderr)
            raise typer.Exit(1) from None
        except OSError as error:
            if isinstance(error, BrokenPipeError):
                sys.stderr.close()  # whoever read our output has had enough
                raise typer.Exit(0) from None
            problem = f"{error.filename or 'output'}: {error.strerror or error}"  # some libraries' have only a text
            print(f"polyseme: {problem}. Check the path and its permissions.", file=sys.stderr)
            raise typer.Exit(1) from None
        except KeyboardInterrupt:
            print("polyseme: interrupted", file=sys.stderr)
            raise typer.Exit(130) from None

    return guarded
