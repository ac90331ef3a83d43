"""The command line: `enough data`, `enough lengths`, `enough demo`, `enough bench`.

Only Typer is imported here; a command imports what it needs when it runs, so help is instant.
"""

from __future__ import annotations

import logging
import sys

import typer

from enough.cli import bench, data, lengths
from enough.errors import EnoughError

app = typer.Typer(
    name="enough",
    help="Put the few records of a user's history that are worth their tokens into the prompt.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(data.app, name="data")
app.add_typer(bench.app, name="bench")
app.command("lengths")(lengths.lengths)
app.command("demo")(lengths.demo)


@app.callback()
def _options(
    verbose: bool = typer.Option(False, "--verbose", "-v", help="Say what is being done."),
) -> None:
    logging.basicConfig(level=logging.INFO if verbose else logging.WARNING, format="%(message)s")


def main() -> None:
    """Run the command line; errors we expect are one line on stderr and exit status 1."""
    try:
        app()
    except EnoughError as error:
        typer.secho(f"error: {error}", err=True, fg="red")
        sys.exit(1)
    except KeyboardInterrupt:
        typer.secho("interrupted; finished work is kept", err=True)
        sys.exit(130)
