"""A recipe names what is wrong with it, and where."""

from __future__ import annotations

from pathlib import Path

import pytest

from enough.baselines.registry import METHODS
from enough.errors import ConfigError, EnoughError
from enough.evaluation.method_training import is_trained
from enough.evaluation.recipe import EvaluateConfig, Recipe, load_recipe

SMOKE = Path(__file__).parent.parent.parent / "recipes" / "smoke.toml"
BM25 = '[[methods]]\nkind = "bm25"\n'


def recipe(folder: Path, text: str) -> Recipe:
    path = folder / "recipe.toml"
    path.write_text(text, encoding="utf-8")
    return load_recipe(path)


def test_the_smoke_recipe_has_every_kind() -> None:
    found = load_recipe(SMOKE)
    assert {line.kind for line in found.methods} == METHODS.keys()
    assert len(found.methods) > len(METHODS)
    assert found.config.against in {line.name for line in found.methods}
    assert found.config.targets.lambda_ == 1.0
    assert found.config.retrieval.pool == 5


def test_names_kinds_and_settings(tmp_path: Path) -> None:
    text = f'requests = 3\nseeds = [4, 5]\n{BM25}k = 2\n[[methods]]\nname = "one"\nkind = "bm25"\n'
    found = recipe(tmp_path, f'{text}[[methods]]\nkind = "purple"\n[methods.fit]\nsteps = 7\n')
    assert (found.config.requests, found.config.seeds) == (3, (4, 5))
    bm25, one, purple = found.methods
    assert (bm25.name, bm25.kind, bm25.settings.k, bm25.entry.title) == ("bm25", "bm25", 2, "BM25")
    assert (one.name, one.kind, one.settings.k) == ("one", "bm25", 5)
    assert purple.settings.fit.steps == 7


def test_what_is_trained_in_the_run(tmp_path: Path) -> None:
    text = f'{BM25}[[methods]]\nkind = "purple"\n'
    text += '[[methods]]\nname = "there"\nkind = "purple"\nfolder = "trained/purple"\n'
    text += '[[methods]]\nkind = "enough"\n'
    text += '[[methods]]\nname = "given"\nkind = "enough"\ncontroller = "trained/enough"\n'
    found = recipe(tmp_path, text)
    assert {line.name: is_trained(line) for line in found.methods} == {
        "bm25": False,
        "purple": True,
        "there": False,
        "enough": True,
        "given": False,
    }
    assert found.methods[2].folder == Path("trained/purple")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"request = 3\n{BM25}", ["'request'", "did you mean 'requests'"]),
        (f"{BM25}K = 3\n", ["methods[0]", "'K'"]),
        ('[[methods]]\nkind = "bm52"\n', ["'bm52'", "did you mean 'bm25'"]),
        (f"{BM25}{BM25}", ["two methods are named 'bm25'"]),
        ("[[methods]]\nk = 3\n", ["methods[0]", "'kind' is missing"]),
        ("[[methods]]\nkind = 3\n", ["methods[0]", "'kind'"]),
        (f'{BM25}k = "three"\n', ["methods[0]: k must be of type int", "'three'"]),
        (f"{BM25}k = 0\n", ["methods[0]", "k must be at least 1"]),
        (f'requests = "all"\n{BM25}', ["requests must be of type int"]),
        (f'{BM25}name = "../up"\n', ["methods[0]: name", "'../up'"]),
        (f'{BM25}name = ""\n', ["methods[0]: name"]),
        (f'{BM25}name = "a/b"\n', ["methods[0]: name"]),
        (f"{BM25}name = 7\n", ["methods[0]: name"]),
        (f'{BM25}folder = "trained/bm25"\n', ["methods[0]: folder", "learns"]),
        ('[[methods]]\nkind = "bm25"\nfolder = "x"\n', ["methods[0]: folder", "learns"]),
        ('[[methods]]\nkind = "purple"\nfolder = 3\n', ["methods[0]: folder"]),
        ('[methods]\nkind = "bm25"\n', ["[[methods]]"]),
        ("methods = [3]\n", ["[[methods]]"]),
        ("requests = 3\n", ["names no method"]),
        (f"seeds = []\n{BM25}", ["seeds"]),
        (f"seeds = [1, 1]\n{BM25}", ["seeds"]),
        (f"seeds = [-1]\n{BM25}", ["seeds"]),
        (f'split = "label"\n{BM25}', ["split", "methods learn"]),
        (f"max_records = 0\n{BM25}", ["max_records must be at least 1"]),
        (f'decoding = "greedy"\n{BM25}', ["decoding must be one of 'free', 'labels'"]),
        (f"[retrieval]\npol = 3\n{BM25}", ["retrieval", "'pol'", "did you mean 'pool'"]),
        (f"[reranker]\nmodle = 3\n{BM25}", ["reranker", "'modle'"]),
        ("requests = \n", ["line 1"]),
    ],
)
def test_errors_name_file_and_key(tmp_path: Path, text: str, told: list[str]) -> None:
    with pytest.raises(EnoughError) as raised:
        recipe(tmp_path, text)
    message = str(raised.value)
    assert "recipe.toml" in message
    for part in told:
        assert part in message


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.toml: cannot be read \(No such file"):
        load_recipe(tmp_path / "nowhere.toml")


def test_labels_of_enough_are_made_with_what_is_shared() -> None:
    config = EvaluateConfig(lessons=3, seeds=(2, 5))
    assert (config.label.split, config.label.requests) == ("label", 3)
    for name in ("slices", "retrieval", "generator", "matching", "targets"):
        assert getattr(config.label, name) is getattr(config, name)
    training = config.training(5)
    assert (training.seed, training.targets) == (5, config.targets)


@pytest.mark.parametrize(
    ("kind", "what"), [("ic-ralm", "generator"), ("replug", "generator"), ("icr", "reranker")]
)
@pytest.mark.parametrize(
    "engine", ['[generator.remote]\nurl = "http://gpu"\n', "[generator.vllm]\n"]
)
def test_a_method_that_looks_into_a_model_elsewhere_is_refused(
    tmp_path: Path, kind: str, what: str, engine: str
) -> None:
    method = f'[[methods]]\nkind = "{kind}"\n'
    with pytest.raises(ConfigError, match=rf"recipe\.toml: {kind} looks into the {what}, which"):
        recipe(tmp_path, engine + method)
    here = "[reranker]\n" if what == "reranker" else ""
    if here:
        assert recipe(tmp_path, engine + here + method).methods[0].kind == kind
    assert recipe(tmp_path, engine + BM25).config.generator.is_elsewhere
