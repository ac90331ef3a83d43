"""Where a generator's server is, what it speaks, and how patient its client is."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

from enough.config import as_table, require_at_least
from enough.errors import ConfigError

DialectName = Literal["sglang", "vllm", "openai"]
_LEAST = {"concurrency": 1, "retries": 0, "attempts": 1, "pause": 0.0}
_OF_THE_CLIENT = ("concurrency", "timeout", "retries", "attempts", "pause")


@dataclass(frozen=True, slots=True)
class RemoteConfig:
    """A server of likelihoods: the table `[generator.remote]`.

    Attributes:
        url: where it is, without a path: "http://gpu-3:30000".
        dialect: "sglang" asks its `/generate` for the reference alone, so that its prefix cache is
            used; "vllm" asks `/v1/completions` for `prompt_logprobs`; "openai" asks any other
            completion server to echo the prompt with its log-probabilities.
        tokenizer: folder or hub name of the served model's tokenizer; by default `model`.
        revision: which weights they are, in your own words. Part of the fingerprint: nobody can
            hash weights behind a URL, so change it whenever they change.
        window: tokens of prompt and answer together, where the server allows fewer than the model.
        api_key_env: name of the environment variable that holds the key, if it wants one.
        concurrency: requests under way at once.
        timeout: seconds one of them may take.
        retries: failed requests that are made again, in the life of a process.
        attempts: how often one request is made at most.
        pause: seconds before the second attempt; doubles from then on, up to half a minute.
    """

    url: str
    dialect: DialectName = "sglang"
    tokenizer: str | None = None
    revision: str = ""
    window: int | None = None
    api_key_env: str | None = None
    concurrency: int = 32
    timeout: float = 120.0
    retries: int = 1000
    attempts: int = 12
    pause: float = 0.5

    def __post_init__(self) -> None:
        require_at_least(self, _LEAST)
        if not self.timeout > 0:
            raise ConfigError(f"timeout must be above 0 seconds, not {self.timeout}")
        if self.window is not None:
            require_at_least(self, {"window": 2})
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ConfigError(f"url must begin with http:// or https://, not {self.url!r}")
        if parts.username or parts.password or parts.query:
            raise ConfigError(
                "url must hold no key or password; put it into an environment variable and name "
                "that as api_key_env"
            )

    def api_key(self) -> str | None:
        """The key, from the environment.

        Raises:
            ConfigError: if the variable is not set.
        """
        if self.api_key_env is None:
            return None
        if not (key := os.environ.get(self.api_key_env)):
            raise ConfigError(f"the environment variable {self.api_key_env} (api_key_env) is empty")
        return key

    @property
    def of_likelihoods(self) -> dict[str, Any]:
        """Of these settings, those that a likelihood may depend on or that find the server."""
        return {
            key: value
            for key, value in as_table(self).items()
            if key not in _OF_THE_CLIENT and value is not None
        }
