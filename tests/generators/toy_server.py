"""A server of a toy model in every dialect, well-behaved or not, and that model in this process.

The toy's log-probabilities depend on a token and everything before it, so that one which is
shifted, stale or of another sequence is another number.
"""

from __future__ import annotations

import asyncio
import socket
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import httpx
import numpy as np
import uvicorn
from numpy.typing import NDArray
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from enough.generators.fake import FakeTokenizer
from enough.generators.remote.config import DialectName, RemoteConfig
from enough.generators.remote.generator import RemoteGenerator
from enough.protocols import OnBatch, ScoredSequence, Tokens

MODEL = "toy"
WINDOW = 4096
FaultKind = Literal["500", "busy", "slow", "cut", "reset", "garbled", "short"]


def log_prob(tokens: Sequence[int], place: int) -> float:
    """Of the token at a place given those before it."""
    spelled = np.array(tokens[: place + 1], "<i4").tobytes()
    return -0.05 - (zlib.crc32(spelled) % 40_000) / 10_000


class ToyGenerator:
    """Implements `protocols.Generator`: the model without any server."""

    def __init__(self, tokenizer: FakeTokenizer | None = None) -> None:
        self.tokenizer = tokenizer or FakeTokenizer()
        self.fingerprint = "toy-1"
        self.window = WINDOW
        self.batch_tokens = 32 * 1024

    def score(
        self, sequences: Sequence[ScoredSequence], on_batch: OnBatch | None = None
    ) -> NDArray[np.float64]:
        scores = np.array([_mean(sequence) for sequence in sequences], np.float64)
        if on_batch is not None and len(scores):
            on_batch(np.arange(len(scores)), scores)
        return scores

    def rescore(self, sequences: Sequence[ScoredSequence]) -> NDArray[np.float64]:
        return self.score(sequences)

    def generate(self, prompts: Sequence[Tokens], max_new_tokens: int) -> list[str]:
        written = [next_tokens(prompt.tolist(), max_new_tokens) for prompt in prompts]
        return [self.tokenizer.decode(tokens).strip() for tokens in written]


def _mean(sequence: ScoredSequence) -> float:
    tokens = sequence.tokens.tolist()
    places = range(len(tokens) - sequence.reference_length, len(tokens))
    return float(np.mean([log_prob(tokens, place) for place in places]))


def next_tokens(prompt: Sequence[int], room: int) -> list[int]:
    """Tokens of the prompt again, from one that depends on all of them."""
    start = zlib.crc32(np.array(prompt, "<i4").tobytes()) % len(prompt)
    return [prompt[(start + i) % len(prompt)] for i in range(min(room, 4))]


@dataclass
class ToyServer:
    """A Starlette application and its flaws.

    Attributes:
        takes_ids: whether `/v1/completions` does.
        begins_with: a token it adds in front of every prompt.
        shift: how many tokens too few (or too many) its log-probabilities are given.
        spelling: how it spells a token's text.
        fault: what befalls the n-th scoring request; None lets it be.
        bodies: all bodies that were answered properly.
        seen: how often each kind of fault befell a request.
    """

    tokenizer: FakeTokenizer = field(default_factory=FakeTokenizer)
    takes_ids: bool = True
    begins_with: str = ""
    shift: int = 0
    spelling: Callable[[str], str] = str
    version: str = "1"
    key: str | None = None
    fault: Callable[[int], FaultKind | None] = lambda _: None
    bodies: list[dict[str, Any]] = field(default_factory=list)
    seen: Counter[str] = field(default_factory=Counter)
    asked: int = 0
    at_once: int = 0
    most_at_once: int = 0

    def app(self) -> Starlette:
        about = {"model_path": MODEL, "served_model_name": MODEL, "weight_version": "default"}
        replies: dict[str, dict[str, Any]] = {
            "/model_info": about,
            "/server_info": {"version": self.version, "context_length": WINDOW, "dtype": "float32"},
            "/v1/models": {"data": [{"id": MODEL, "root": MODEL, "max_model_len": WINDOW}]},
            "/version": {"version": self.version},
        }

        def about_itself(path: str) -> Route:
            async def endpoint(request: Request) -> Response:
                return self._refusal(request) or JSONResponse(replies[path])

            return Route(path, endpoint)

        return Starlette(
            routes=[
                *map(about_itself, replies),
                Route("/generate", self._generate, methods=["POST"]),
                Route("/v1/completions", self._complete, methods=["POST"]),
            ]
        )

    def _refusal(self, request: Request) -> Response | None:
        if self.key is not None and request.headers.get("authorization") != f"Bearer {self.key}":
            said = request.headers.get("authorization", "nothing")
            return JSONResponse({"error": f"not a key: {said}"}, status_code=401)
        return None

    async def _generate(self, request: Request) -> Response:
        body = await request.json()
        tokens = self._read(body["input_ids"])
        room = body["sampling_params"]["max_new_tokens"]
        written = next_tokens(tokens, room) if room else []
        meta: dict[str, Any] = {"prompt_tokens": len(tokens)}
        if body.get("return_logprob"):
            start = body.get("logprob_start_len", -1)
            start = len(tokens) if start < 0 else start
            texts = bool(body.get("return_text_in_logprobs"))
            meta["input_token_logprobs"] = [
                [value if i else None, token, self._spelled(token) if texts else None]
                for i, (value, token) in enumerate(self._values(tokens, start))
            ]
            both = [*tokens, *written]
            meta["output_token_logprobs"] = [
                [log_prob(both, len(tokens) + i), token, None] for i, token in enumerate(written)
            ]
        reply = {"text": self.tokenizer.decode(written), "meta_info": meta}
        return await self._answer(request, body, reply, is_scoring=room == 0)

    async def _complete(self, request: Request) -> Response:
        body = await request.json()
        if isinstance(body["prompt"], str):
            tokens = self._read(self.tokenizer.encode(body["prompt"]).tolist())
        elif self.takes_ids:
            tokens = self._read(body["prompt"])
        else:
            return JSONResponse({"error": "prompt must be a text"}, status_code=422)
        written = next_tokens(tokens, body["max_tokens"])
        both = [*tokens, *written]
        tail = [log_prob(both, len(tokens) + i) for i in range(len(written))]
        choice: dict[str, Any] = {"text": self.tokenizer.decode(written), "logprobs": None}
        values = [value for value, _ in self._values(tokens, 0)]
        if "prompt_logprobs" in body:
            choice["prompt_logprobs"] = [None] + [
                {str(token): {"logprob": value, "decoded_token": self._spelled(token)}}
                for value, token in zip(values[1:], tokens[1:], strict=True)
            ]
        if body.get("logprobs"):
            by_id = body.get("return_tokens_as_token_ids")
            shown = both if body.get("echo") else written
            choice["logprobs"] = {
                "tokens": [f"token_id:{t}" if by_id else self._spelled(t) for t in shown],
                "token_logprobs": [None, *values[1:], *tail] if body.get("echo") else tail,
            }
        usage = {"prompt_tokens": len(tokens), "completion_tokens": len(written)}
        is_scoring = "prompt_logprobs" in body or bool(body.get("echo"))
        reply = {"choices": [choice], "usage": usage}
        return await self._answer(request, body, reply, is_scoring=is_scoring)

    def _read(self, tokens: list[int]) -> list[int]:
        return [*self.tokenizer.encode(self.begins_with).tolist(), *tokens]

    def _spelled(self, token: int) -> str:
        return self.spelling(self.tokenizer.spell([token]))

    def _values(self, tokens: list[int], start: int) -> list[tuple[float, int]]:
        if not self.shift:
            return [(log_prob(tokens, i), tokens[i]) for i in range(start, len(tokens))]
        rows = [tokens[: max(0, i - self.shift)] for i in range(len(tokens))]
        late = [log_prob([*row, token], len(row)) for row, token in zip(rows, tokens, strict=True)]
        return list(zip(late, tokens, strict=True))[start:]

    async def _answer(
        self, request: Request, body: dict[str, Any], reply: dict[str, Any], *, is_scoring: bool
    ) -> Response:
        if (refusal := self._refusal(request)) is not None:
            return refusal
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await asyncio.sleep(0.001)
            kind = None
            if is_scoring:
                self.asked += 1
                kind = self.fault(self.asked)
            if kind is not None:
                self.seen[kind] += 1
                return await _damaged(kind, reply)
            self.bodies.append(body)
            return JSONResponse(reply)
        finally:
            self.at_once -= 1


class _Broken(Response):
    """Promises more bytes than it sends, then the connection ends."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        length = str(len(self.body) * 2).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", length)]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": bytes(self.body), "more_body": True})
        raise ConnectionResetError("gone")


async def _damaged(kind: FaultKind, reply: dict[str, Any]) -> Response:
    whole = bytes(JSONResponse(reply).body)
    if kind == "500":
        return JSONResponse({"error": "out of memory"}, status_code=500)
    if kind == "busy":
        return JSONResponse({}, status_code=429, headers={"Retry-After": "0"})
    if kind == "slow":
        await asyncio.sleep(1.5)
        return JSONResponse(reply)
    if kind == "cut":
        return Response(whole[: len(whole) // 2], media_type="application/json")
    if kind == "reset":
        return _Broken(whole[: len(whole) // 2])
    if kind == "garbled":
        return Response(b"\xff\xfe not JSON", media_type="application/json")
    return JSONResponse(_shortened(reply))


def _shortened(value: Any) -> Any:
    """The reply with the last entry of every list lost: well-formed, and wrong."""
    if isinstance(value, dict):
        return {key: _shortened(one) for key, one in value.items()}
    if isinstance(value, list) and value and not isinstance(value[0], dict):
        return value[:-1]
    return [_shortened(one) for one in value] if isinstance(value, list) else value


def toy_remote(
    dialect: DialectName, server: ToyServer | None = None, **changes: Any
) -> RemoteGenerator:
    """A generator whose server answers in this process, without a socket."""
    server = server or ToyServer()
    settings: dict[str, Any] = {"dialect": dialect, "pause": 0.0, "concurrency": 4} | changes
    config = RemoteConfig("http://toy", **settings)
    transport = httpx.ASGITransport(server.app())
    return RemoteGenerator(MODEL, config, server.tokenizer, WINDOW, transport)


@contextmanager
def listening(server: ToyServer, port: int = 0) -> Iterator[int]:
    """The server on a real socket, until the context ends; yields the port."""
    config = uvicorn.Config(server.app(), log_level="critical", lifespan="off", port=port)
    running = uvicorn.Server(config)
    bound = socket.socket()
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.bind(("127.0.0.1", port))
    thread = threading.Thread(target=running.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    try:
        while not running.started:
            time.sleep(0.01)
        yield bound.getsockname()[1]
    finally:
        running.should_exit = running.force_exit = True
        thread.join()
        bound.close()
