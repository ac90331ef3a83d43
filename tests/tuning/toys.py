"""A toy to tune on: users who always say one word, a tiny random model, its tokenizer.

`python -m tests.tuning.toys MODEL OUT` tunes the model in that folder, as a program to be killed.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from enough.data.leakage import LeakageControls
from enough.generators.config import GeneratorConfig
from enough.generators.hf import HFGenerator
from enough.progress import OnStep, silent
from enough.prompts.prompter import Prompter
from enough.protocols import Retriever
from enough.records import Candidate, Dataset, Example, Pool, Record, Request
from enough.retrieval.pools import PooledExample, RetrievalConfig
from enough.retrieval.recency import RecencyRetriever
from enough.tasks import Task
from enough.tuning.config import LoraSettings, TuneConfig
from enough.tuning.run import TuneRun, load_for_tuning
from enough.tuning.samples import Samples

TASK = Task(name="Toy", description="Say the word.", action_field="text")
WORDS = [f"w{i}" for i in range(40)]
_TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def toy_tokenizer() -> Any:
    """One token per word or mark; what it does not know is one token, too."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    known = ["other", *WORDS, *"[]<>/:.,=", "say", "about", "TASK", "ACTION"]
    vocabulary = {word: number for number, word in enumerate(known)}
    backend = Tokenizer(models.WordLevel(vocabulary, unk_token="other"))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer: Any = PreTrainedTokenizerFast(tokenizer_object=backend)
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|im_start|>", "<|im_end|>"]})
    tokenizer.chat_template = _TEMPLATE
    return tokenizer


def save_toy(folder: Path, model: Any) -> Path:
    """A model and the tokenizer, as `HFGenerator.load` finds them.

    Words are far apart in it: a fresh model says everything about equally, whatever its layers do.
    """
    for words in (model.get_input_embeddings(), model.get_output_embeddings()):
        words.weight.data *= 25
    model.save_pretrained(folder)
    toy_tokenizer().save_pretrained(folder)
    return folder


def toy_dataset(users: int = 40, requests: int = 2, records: int = 6) -> Dataset:
    """User n says word n; nobody else does."""
    histories, examples = {}, []
    for n in range(users):
        user = f"u{n}"
        histories[user] = tuple(
            Record(
                id=f"{user}-{i}", owner=user, context="", action=f"say {WORDS[n % 40]} about {i}"
            )
            for i in range(records)
        )
        for r in range(requests):
            request = Request(id=f"q{n}-{r}", user=user, task=TASK, input=f"about {r}")
            examples.append(Example(request, WORDS[n % 40]))
    return Dataset(TASK, histories, {"train": tuple(examples), "tune": tuple(examples)})


def toy_pool(dataset: Dataset, example: Example) -> Pool:
    history = dataset.history(example.request)
    return tuple(Candidate(record, -float(i)) for i, record in enumerate(history))


def toy_pools(users: int = 10, requests: int = 1, records: int = 6) -> list[PooledExample]:
    dataset = toy_dataset(users, requests, records)
    return [PooledExample(e, toy_pool(dataset, e)) for e in dataset.splits["tune"]]


def toy_samples(
    pools: Sequence[PooledExample], max_tokens: int = 500, max_records: int = 3
) -> Samples:
    from enough.generators.hf_tokenizer import HFTokenizer

    tokenizer = HFTokenizer(toy_tokenizer())
    end = int(tokenizer.encode("<|im_end|>")[0])
    return Samples(
        pools, Prompter(tokenizer), end, max_records=max_records, max_tokens=max_tokens, seed=5
    )


def toy_config(model: Path, **changes: Any) -> TuneConfig:
    values: dict[str, Any] = {
        "batch": 8,
        "epochs": 2,
        "learning_rate": 1e-2,
        "max_records": 3,
        "max_tokens": 500,
        "held_out": 0.2,
        "measured": 6,
        "save_every": 3,
        "retrieval": RetrievalConfig(retriever="recency"),
        "generator": GeneratorConfig(model=str(model), device="cpu"),
        "lora": LoraSettings(rank=4, alpha=8, dropout=0.1),
    }
    return TuneConfig(**(values | changes))


def toy_stages() -> tuple[LeakageControls, Retriever]:
    return LeakageControls(), RecencyRetriever()


def tune_toy(
    model: Path, out: Path, on_step: OnStep = silent, **changes: Any
) -> tuple[dict[str, Any], HFGenerator | None]:
    """What is in tuning.json, and the tuned generator in memory if anything was tuned."""
    config = toy_config(model, **changes)
    loaded: list[HFGenerator] = []

    def load() -> HFGenerator:
        loaded.append(load_for_tuning(config.generator))
        return loaded[0]

    about = TuneRun([toy_dataset()], config, out, "toys").run(toy_stages, load, on_step)
    return about, loaded[0] if loaded else None


if __name__ == "__main__":
    import torch

    torch.set_num_threads(1)
    tune_toy(Path(sys.argv[1]), Path(sys.argv[2]), epochs=int(sys.argv[3]))
