"""`enough serve`, `keys`, `export`, `scrub`: the service, who may use it, its records, erasing."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from enough.service.config import ServeConfig
    from enough.store.sql_store import SqlStore
    from enough.store.values import ApiKey

keys_app = typer.Typer(no_args_is_help=True, help="API keys of the service: make, list, revoke.")

Config = Annotated[
    Path | None,
    typer.Option(help="A TOML file of settings; ENOUGH_SERVE__... variables win over it."),
]
Tenant = Annotated[str, typer.Option(help="The app; nothing is shared between tenants.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def serve(
    config: Config = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="0 takes a free one.")] = None,
) -> None:
    """Serve records, selections and answers over HTTP; docs/service.md has the whole of it.

    enough keys create --tenant shop --scope ingest --scope select
    enough serve --config serve.toml
    """
    import logging

    from enough.errors import MissingExtraError

    given = {"HOST": host, "PORT": port}
    settings = _settings(config, {k: str(v) for k, v in given.items() if v is not None})
    try:
        from enough.service.server import serve as run
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("fastapi", "uvicorn", "prometheus_client"):
            raise
        raise MissingExtraError("the service", "serve") from error
    logging.getLogger("enough.service").setLevel(logging.INFO)
    run(settings)


@keys_app.command()
def create(
    tenant: Tenant,
    scope: Annotated[
        list[str], typer.Option(help="ingest, read, select or admin; give it several times.")
    ],
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Make a key. Its secret is printed now and never again."""
    from enough.errors import UnknownNameError
    from enough.store.values import Scope

    known = [one.value for one in Scope]
    for name in scope:
        if name not in known:
            raise UnknownNameError("scope", name, known)
    with _opened(config) as store:
        made = store.keys.create(tenant, [Scope(name) for name in scope])
    if as_json:
        typer.echo(json.dumps(_line(made.key) | {"secret": made.secret}, indent=2))
    else:
        typer.echo(made.secret)


@keys_app.command("list")
def list_(tenant: Tenant, config: Config = None, as_json: Json = False) -> None:
    """All keys of a tenant, without their secrets."""
    with _opened(config) as store:
        lines = [_line(key) for key in store.keys.keys(tenant)]
    if as_json:
        typer.echo(json.dumps(lines, indent=2))
        return
    for line in lines:
        state = f"revoked {line['revoked']}" if line["revoked"] else "good"
        typer.echo(f"{line['id']}  {','.join(line['scopes'])}  made {line['created']}  {state}")


@keys_app.command()
def revoke(
    key: Annotated[str, typer.Argument(help="The id: what is before the dot of the secret.")],
    tenant: Tenant,
    config: Config = None,
) -> None:
    """Close a key; running services follow within a second."""
    from enough.errors import DataError

    with _opened(config) as store:
        if not store.keys.revoke(tenant, key.partition(".")[0]):
            raise DataError(f"tenant {tenant!r} has no good key {key.partition('.')[0]!r}")
    typer.echo("revoked")


def export(
    task: Annotated[str, typer.Argument(help="One of the service's tasks.")],
    out: Annotated[Path, typer.Argument(help="A folder that is not there yet.")],
    tenant: Tenant,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Write a tenant's records of one task as a log, to label and to train on.

    enough export support-replies my-log --tenant shop --config serve.toml
    enough data requests my-log --wording "Customer: {message}"
    """
    from enough.cli.terminal import progress_bars
    from enough.data.logs import write_log_folder
    from enough.errors import DataError
    from enough.service.known_tasks import KnownTasks
    from enough.store.exporting import stored_histories

    settings = _settings(config)
    wanted = KnownTasks(settings.tasks).named(task)
    with _opened(config) as store, progress_bars() as update:
        found = stored_histories(store, tenant, wanted, update)
    if not found.histories:
        raise DataError(f"tenant {tenant!r} has no record of {wanted.name}")
    write_log_folder(found, out)
    counts = {"users": len(found.histories), "records": sum(map(len, found.histories.values()))}
    if as_json:
        typer.echo(json.dumps({"folder": str(out)} | counts))
    else:
        typer.echo(f"{out}: {counts['users']:,} users, {counts['records']:,} records")


def scrub(config: Config = None) -> None:
    """Leave no byte of anything deleted in the store's files.

    SQLite does this with every deletion. On PostgreSQL it writes the tables anew and keeps
    everybody out meanwhile: run it in a quiet hour.
    """
    with _opened(config) as store:
        store.scrub()
    typer.echo("scrubbed")


def _settings(config: Path | None, options: Mapping[str, str] | None = None) -> ServeConfig:
    """Of the file, then the environment, then the command line."""
    from enough.service.environment import PREFIX, load_serve_config

    given = {f"{PREFIX}{name}": value for name, value in (options or {}).items()}
    return load_serve_config(config, {**os.environ, **given})


def _opened(config: Path | None) -> Any:
    from contextlib import closing

    from enough.store.opening import open_store

    store: SqlStore = open_store(_settings(config).store)
    return closing(store)


def _line(key: ApiKey) -> dict[str, Any]:
    return {
        "id": key.id,
        "tenant": key.tenant,
        "scopes": sorted(scope.value for scope in key.scopes),
        "created": key.created.isoformat(timespec="seconds"),
        "revoked": key.revoked and key.revoked.isoformat(timespec="seconds"),
    }
