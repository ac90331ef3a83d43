"""What a service is made of, as one TOML file or environment variables say it."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from enough.config import require_at_least
from enough.errors import ConfigError
from enough.generators.config import GeneratorConfig
from enough.online.untrained import UntrainedConfig
from enough.retrieval.pools import RetrievalConfig
from enough.store.config import StoreConfig


@dataclass(frozen=True, slots=True)
class UpstreamConfig:
    """A chat service with OpenAI's interface that writes the answers.

    Attributes:
        url: up to and with its version, e.g. "https://api.example.com/v1".
        model: the one that is asked; clients cannot choose another.
        key_variable: environment variable with its API key; "" for a service without keys.
        timeout_s: how long an answer, or the next piece of one, may take.
    """

    url: str
    model: str
    key_variable: str = ""
    timeout_s: float = 60.0

    def __post_init__(self) -> None:
        require_at_least(self, {"timeout_s": 0.01}, "upstream.")
        if not self.url.startswith(("http://", "https://")):
            raise ConfigError(f"upstream.url must begin with http:// or https://, not {self.url!r}")
        if not self.model:
            raise ConfigError("upstream.model must name a model")


@dataclass(frozen=True, slots=True)
class LimitsConfig:
    """How much one client, and all together, may ask for.

    Attributes:
        body_bytes: of one request.
        text_chars: of an input, and of all texts of a record.
        records_per_batch: in one call.
        requests_per_minute: of one API key; 0 for no limit.
        concurrent: requests at work at the same time; more are refused.
        timeout_s: after which a request is given up.
        memory_mb: for embeddings and portraits of records that were decided about lately.
    """

    body_bytes: int = 8_000_000
    text_chars: int = 200_000
    records_per_batch: int = 1000
    requests_per_minute: int = 6000
    concurrent: int = 64
    timeout_s: float = 60.0
    memory_mb: int = 256

    def __post_init__(self) -> None:
        least = {"body_bytes": 1, "text_chars": 1, "records_per_batch": 1, "requests_per_minute": 0}
        require_at_least(
            self, least | {"concurrent": 1, "timeout_s": 0.01, "memory_mb": 0}, "limits."
        )


@dataclass(frozen=True, slots=True)
class ServeConfig:
    """All settings of `enough serve`.

    Attributes:
        host: address to listen on.
        port: 0 takes a free one.
        open: requests without an API key are the tenant "default"; for loopback only.
        open_metrics: /metrics without an API key.
        inspector: /inspector, a page that shows why records were selected.
        store: where records and keys are.
        retrieval: how pools are made; the retriever is "dense".
        generator: whose tokens are counted; also writes the answers where there is no upstream.
        controller: folder of `enough train` or name of a bundled one; as in `enough select`.
        untrained: given, the fallback selects, and no controller does.
        window: tokens of prompt and answer together; by default the generator's.
        max_records: K_max.
        tasks: task files besides the six bundled tasks.
        proxy_task: for chats that name no task; "" leaves such chats as they are.
        upstream: who writes answers; without it the local generator does.
        answers: "local" loads the generator at the start, "auto" at the first answer.
        limits: see `LimitsConfig`.
        shutdown_s: how long requests under way may take when the service is told to stop.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    open: bool = False
    open_metrics: bool = False
    inspector: bool = True
    store: StoreConfig = field(default_factory=StoreConfig)
    retrieval: RetrievalConfig = field(default_factory=RetrievalConfig)
    generator: GeneratorConfig = field(default_factory=GeneratorConfig)
    controller: Path | None = None
    untrained: UntrainedConfig | None = None
    window: int | None = None
    max_records: int = 10
    tasks: tuple[Path, ...] = ()
    proxy_task: str = ""
    upstream: UpstreamConfig | None = None
    answers: Literal["auto", "local"] = "auto"
    limits: LimitsConfig = field(default_factory=LimitsConfig)
    shutdown_s: float = 30.0

    def __post_init__(self) -> None:
        require_at_least(self, {"port": 0, "max_records": 0, "shutdown_s": 0})
        if self.window is not None:
            require_at_least(self, {"window": 1})
        if self.port > 65_535:
            raise ConfigError(f"port must be at most 65535, not {self.port}")
        if self.open and not self.is_loopback:
            raise ConfigError(
                f"open = true would let anybody who reaches {self.host} read and erase records; "
                "listen on 127.0.0.1, or make keys with `enough keys create`"
            )
        if self.retrieval.retriever != "dense":
            raise ConfigError(
                f"a store is searched by vectors: retrieval.retriever must be 'dense', not "
                f"{self.retrieval.retriever!r}"
            )
        if self.answers == "local" and self.upstream is not None:
            raise ConfigError("answers are written locally or by upstream: leave one of them out")

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can connect."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False
