"""The command line, one module for each command.

Only Typer is imported here; a command imports what it needs when it runs, so help is instant.
"""

from __future__ import annotations

import logging
import sys

import typer

from enough.cli import (
    aggregate,
    annotate,
    bench,
    compare,
    data,
    demo,
    diagnose,
    evaluate,
    label,
    lengths,
    match,
    oracle,
    plan,
    predict,
    price,
    results,
    select,
    serve,
    train,
    tune,
    tune_encoder,
)
from enough.errors import EnoughError, MissingExtraError

_INTERRUPTED = 130  # as shells have it

app = typer.Typer(
    name="enough",
    help="Put the few records of a user's history that are worth their tokens into the prompt.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(data.app, name="data")
app.add_typer(bench.app, name="bench")
app.add_typer(annotate.annotate_app, name="annotate")
app.add_typer(serve.keys_app, name="keys")
app.command("lengths")(lengths.lengths)
app.command("tune")(tune.tune)
app.command("tune-encoder")(tune_encoder.tune_encoder)
app.command("match")(match.match)
app.command("label")(label.label)
app.command("plan")(plan.plan)
app.command("train")(train.train)
app.command("aggregate")(aggregate.aggregate)
app.command("price")(price.price)
app.command("compare")(compare.compare)
app.command("evaluate")(evaluate.evaluate)
app.command("diagnose")(diagnose.diagnose)
app.command("report")(diagnose.report)
app.command("results")(results.results)
app.command("oracle")(oracle.oracle)
app.command("select")(select.select)
app.command("predict")(predict.predict)
app.command("serve")(serve.serve)
app.command("export")(serve.export)
app.command("scrub")(serve.scrub)
app.command("demo")(demo.demo)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(version("enough"))
        raise typer.Exit


@app.callback()
def _options(
    verbose: bool = typer.Option(False, "--verbose", "-v", help="Say what is being done."),
    version: bool = typer.Option(
        False, "--version", is_eager=True, callback=_print_version, help="Print the version."
    ),
) -> None:
    logging.basicConfig(level=logging.INFO if verbose else logging.WARNING, format="%(message)s")


def main() -> None:
    """Run the command line; errors we expect are one line on stderr and exit status 1."""
    try:
        app()
    except EnoughError as error:
        typer.secho(f"error: {error}", err=True, fg="red")
        sys.exit(1)
    except ModuleNotFoundError as error:
        if error.name not in ("torch", "transformers", "safetensors", "gguf", "accelerate"):
            raise
        typer.secho(f"error: {MissingExtraError('this command', 'hf')}", err=True, fg="red")
        sys.exit(1)
    except SystemExit as end:
        if end.code == _INTERRUPTED:  # a Ctrl-C that Typer has caught
            typer.secho(
                "interrupted; what is finished is kept, and the same command goes on from there",
                err=True,
            )
        raise
