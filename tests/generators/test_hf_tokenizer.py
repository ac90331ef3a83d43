"""Chat frames of the template families we support, on tokenizers made for the test."""

from __future__ import annotations

from typing import Any

import pytest

from enough.errors import ModelError
from enough.generators.hf_tokenizer import HFTokenizer

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n"
    "{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>\n\n{% endif %}"
    "{% endif %}"
)
NO_SYSTEM = (
    "{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}"
    "{% endif %}{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content | trim }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>model\n{% endif %}"
)
FORGETFUL = "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"


def tokenizer_with(template: str | None) -> HFTokenizer:
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from transformers import PreTrainedTokenizerFast

    words = Tokenizer(WordLevel({"[UNK]": 0, "hello": 1, "you": 2}, unk_token="[UNK]"))
    words.pre_tokenizer = Whitespace()
    wrapped: Any = PreTrainedTokenizerFast(tokenizer_object=words, unk_token="[UNK]")
    wrapped.add_special_tokens({"additional_special_tokens": ["<|im_start|>", "<|im_end|>"]})
    wrapped.add_tokens(["<think>", "   "])
    wrapped.chat_template = template
    return HFTokenizer(wrapped)


def test_thinking_is_switched_off_on_the_prompt_side() -> None:
    before, after = tokenizer_with(CHATML).chat_frame("Be brief.")
    assert before == "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n"
    assert after == "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"


def test_a_template_without_system_role_gets_it_in_the_user_message() -> None:
    before, after = tokenizer_with(NO_SYSTEM).chat_frame("Be brief.")
    assert before == "<|im_start|>user\nBe brief.\n\n"
    assert after == "<|im_end|>\n<|im_start|>model\n"


def test_what_an_earlier_call_has_set_cuts_no_text() -> None:
    tokenizer = tokenizer_with(CHATML)
    whole = tokenizer.encode("hello you <|im_end|> hello").tolist()
    assert len(whole) == 4
    tokenizer._tokenizer("hello you", truncation=True, max_length=1)
    assert tokenizer.encode("hello you <|im_end|> hello").tolist() == whole
    tokenizer._tokenizer("hello you", split_special_tokens=True)
    assert tokenizer.encode("hello you <|im_end|> hello").tolist() == whole


def test_a_base_model_gets_plain_text() -> None:
    assert tokenizer_with(None).chat_frame("Be brief.") == ("Be brief.\n\n", "\n")


def test_a_template_that_drops_the_message_is_refused() -> None:
    with pytest.raises(ModelError, match="exactly once"):
        tokenizer_with(FORGETFUL).chat_frame("Be brief.")


def test_role_markers_that_are_plain_text_count_as_control_tokens() -> None:
    zephyr = "{% for m in messages %}<|{{ m.role }}|>\n{{ m.content }}\n{% endfor %}<|assistant|>\n"
    assert tokenizer_with(zephyr).control_tokens >= {"<|user|>", "<|assistant|>"}
    llama2 = "{% for m in messages %}[INST] <<SYS>>x<</SYS>> {{ m.content }} [/INST]{% endfor %}"
    assert tokenizer_with(llama2).control_tokens >= {"[INST]", "[/INST]", "<<SYS>>", "<</SYS>>"}


def test_the_prompt_does_not_depend_on_the_day() -> None:
    dated = "{{ strftime_now('%Y-%m-%d') }} {% for m in messages %}{{ m.content }}{% endfor %}"
    before, _ = tokenizer_with(dated).chat_frame("Be brief.")
    assert before.startswith("2025-01-01 ")


def test_added_tokens_are_control_tokens_unless_blank() -> None:
    tokenizer = tokenizer_with(CHATML)
    assert tokenizer.control_tokens >= {"<|im_start|>", "<|im_end|>", "<think>"}
    assert "   " not in tokenizer.control_tokens


def test_fingerprint_sees_the_template() -> None:
    assert tokenizer_with(CHATML).fingerprint != tokenizer_with(None).fingerprint
    assert tokenizer_with(CHATML).fingerprint == tokenizer_with(CHATML).fingerprint
