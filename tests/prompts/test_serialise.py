from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enough.prompts.escape import Escaper
from enough.prompts.serialise import metadata_of, parse_record, serialise_record
from enough.records import Record
from enough.tasks import LAMP_TASKS
from tests.conftest import make_record
from tests.prompts.test_escape import hostile_text

TASK = LAMP_TASKS["LaMP-2"]


def test_the_papers_form() -> None:
    line = serialise_record(TASK, make_record(1, context="A film.", action="comedy"), Escaper())
    expected = "[TASK] LaMP-2 [HIST_CONTEXT] A film. [USER_ACTION] comedy [META] date=2020-01-01\n"
    assert line == expected


def test_without_context_and_metadata() -> None:
    record = Record(id="1", owner="u", context="", action="just a tweet ")
    line = serialise_record(LAMP_TASKS["LaMP-7"], record, Escaper())
    assert line == "[TASK] LaMP-7 [HIST_CONTEXT]  [USER_ACTION] just a tweet  [META]\n"
    assert parse_record(line).action == "just a tweet "


@given(
    hostile_text,
    hostile_text,
    st.lists(st.tuples(hostile_text.filter(bool), hostile_text), max_size=3),
)
def test_a_record_comes_back_whole(
    context: str, action: str, metadata: list[tuple[str, str]]
) -> None:
    record = Record(id="1", owner="u", context=context, action=action, metadata=tuple(metadata))
    line = serialise_record(TASK, record, Escaper({"<|im_end|>"}))
    parsed = parse_record(line)
    assert (parsed.task, parsed.context, parsed.action) == ("LaMP-2", context, action)
    assert parsed.metadata == metadata_of(record)
    assert line.endswith("\n")
    assert not line[-2].isspace()


def test_what_is_not_a_record_is_refused() -> None:
    with pytest.raises(ValueError, match="not a record line"):
        parse_record("[TASK] LaMP-2 [USER_ACTION] x\n")
