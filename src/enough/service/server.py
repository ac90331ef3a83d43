"""Listening: an address, and a server that finishes what is under way before it stops.

In: a configuration. Out: a process that serves until it is told to stop (SIGTERM, SIGINT).
"""

from __future__ import annotations

import logging
import os
import socket
import sys
from contextlib import closing

import uvicorn
from fastapi import FastAPI

from enough.errors import ConfigError, StoreBusyError, StoreUnavailableError
from enough.service.app import build_app, started
from enough.service.config import ServeConfig
from enough.service.gate import DEFAULT_TENANT
from enough.service.one_write import OneWrite
from enough.store.opening import open_store

log = logging.getLogger("enough.service")

# A thread that has encoded a text gets Python's lock after somebody else's turn; with the usual
# 5 ms it waits for most of a text's own time, and its core with it.
_TURN_S = 0.0002


def serve(config: ServeConfig) -> None:
    """Serve until told to stop.

    Raises:
        ConfigError: if the address is not this machine's alone and there is no key, or is taken.
        ModelError: if a model cannot be had.
        StoreError: if the database is not a store's.
    """
    if config.open:
        log.warning(
            "open: requests without a key are the tenant %r and may do everything", DEFAULT_TENANT
        )
    else:
        _require_keys(config)
    sys.setswitchinterval(_TURN_S)
    # Requests bring one text at a time; a tokenizer would wake its own threads for each.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    with closing(_bound(config)) as door:
        app = build_app(config, service=started(config))
        log.info("listening on http://%s:%d", config.host, door.getsockname()[1])
        uvicorn.Server(server_settings(config, app)).run(sockets=[door])


def server_settings(config: ServeConfig, app: FastAPI) -> uvicorn.Config:
    """The web server's settings. Its own access log is off: paths hold names of users."""
    return uvicorn.Config(
        app,
        host=config.host,
        port=config.port,
        access_log=False,
        proxy_headers=False,  # nothing here asks where a request came from
        log_level="warning",
        server_header=False,
        timeout_graceful_shutdown=max(1, round(config.shutdown_s)),
        lifespan="on",
        ws="none",
        http=OneWrite,
    )


def _bound(config: ServeConfig) -> socket.socket:
    """The address, taken before models are loaded; nobody is let in until the server listens."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            config.host, config.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        door = socket.socket(family, kind, protocol)
        try:
            door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            door.bind(address)
        except OSError:
            door.close()
            raise
    except OSError as error:
        raise ConfigError(
            f"cannot listen on {config.host}:{config.port}: {error.strerror or error}; choose "
            "another --host or --port"
        ) from None
    return door


def _require_keys(config: ServeConfig) -> None:
    try:
        store = open_store(config.store)
    except (StoreUnavailableError, StoreBusyError) as error:
        log.warning("whether there is an API key is not known yet: %s", error)
        return  # without one, nobody gets in
    try:
        has_keys = store.keys.is_any()
    finally:
        store.close()
    if has_keys:
        return
    how = "`enough keys create --tenant NAME --scope admin`"
    if not config.is_loopback:
        raise ConfigError(f"there is no API key yet, so nothing listens on {config.host}; {how}")
    log.warning("there is no API key yet: nobody gets in; %s, or open = true", how)
