"""ENOUGH as a method answers with what its controller chooses, and refuses foreign parts."""

from __future__ import annotations

from pathlib import Path

import pytest

from enough.baselines.controlled import EnoughConfig
from enough.controller.checkpoint import load_controller
from enough.errors import ConfigError, ModelError
from enough.online.policy import ControllerPolicy
from enough.tasks import LAMP_TASKS
from tests.baselines.stand_ins import OpenFake, ask, films, make_tools
from tests.online.stand_ins import saved_controller
from tests.retrieval.tiny import BagEncoder

TWEETS = LAMP_TASKS["LaMP-7"]
RECORDS = films("amber dune", "birch", "cedar grove", "dune", "ember")


def test_it_answers_with_what_the_controller_chooses(tmp_path: Path) -> None:
    folder = saved_controller(tmp_path)
    generator = OpenFake()
    tools = make_tools(generator, folder=folder)
    asked = ask(tools, RECORDS, task=TWEETS)
    expected = ControllerPolicy(load_controller(folder), BagEncoder()).select(
        asked.request, asked.pool, asked.budget
    )
    answered = EnoughConfig().build(tools).answer(asked)
    assert (answered.records, answered.reason) == (expected.records, expected.reason)
    named = EnoughConfig(controller=folder).build(make_tools(generator)).answer(asked)
    assert named == answered
    assert len(generator.prompts) == 2


@pytest.mark.parametrize("length", [0, 1, 4])
def test_a_forced_length(tmp_path: Path, length: int) -> None:
    tools = make_tools(folder=saved_controller(tmp_path))
    method = EnoughConfig(forced_length=length).build(tools)
    assert len(method.answer(ask(tools, RECORDS, task=TWEETS)).records) == length


def test_it_is_trained_first() -> None:
    with pytest.raises(ConfigError, match="trained first"):
        EnoughConfig().build(make_tools())
    with pytest.raises(ConfigError, match="forced_length must be at least 0"):
        EnoughConfig(forced_length=-1)


def test_foreign_parts_are_refused(tmp_path: Path) -> None:
    folder = saved_controller(tmp_path)
    with pytest.raises(ModelError, match="another encoder"):
        EnoughConfig(folder).build(make_tools(encoder=BagEncoder("other")))
    foreign = saved_controller(tmp_path / "foreign", tokenizer="other")
    with pytest.raises(ModelError, match="another tokenizer"):
        EnoughConfig(foreign).build(make_tools())
