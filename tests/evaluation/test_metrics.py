"""Official metrics against scikit-learn and rouge-score, and the official rule for odd answers."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer
from sklearn import metrics as sk

from enough.answers import rouge_1, rouge_l
from enough.errors import ConfigError, DataError
from enough.evaluation.metrics import (
    aggregate,
    example_scores,
    faults,
    metric_parts,
    metric_value,
    oriented,
)
from enough.tasks import LAMP_TASKS, Task

CITATION, TAGS, RATING, HEADLINE = (LAMP_TASKS[f"LaMP-{n}"] for n in (1, 2, 3, 4))
VOCABULARY = ["the", "a", "fox", "Fox's", "quick-brown", "ran", "RUN", "running", "12", "3.5"]
VOCABULARY += ["é", "naïve", "—", ",", "!", "ÄPFEL", "x_y", "", "\n"]
ROUGE = RougeScorer(["rouge1", "rougeL"], use_stemmer=False)


def made_up_texts(count: int, seed: int) -> list[tuple[str, str]]:
    draw = random.Random(seed)
    lengths = [0, 1, 2, 5, 12, 40]
    return [
        tuple(" ".join(draw.choices(VOCABULARY, k=draw.choice(lengths))) for _ in range(2))  # type: ignore[misc]
        for _ in range(count)
    ]


def test_rouge_is_that_of_rouge_score_on_thousands_of_texts() -> None:
    for answer, reference in made_up_texts(3000, seed=1):
        theirs = ROUGE.score(reference, answer)
        assert rouge_1(answer, reference) == theirs["rouge1"].fmeasure
        assert rouge_l(answer, reference) == theirs["rougeL"].fmeasure


@given(st.text(max_size=60), st.text(max_size=60))
def test_rouge_is_that_of_rouge_score_on_any_text(answer: str, reference: str) -> None:
    theirs = ROUGE.score(reference, answer)
    assert rouge_1(answer, reference) == theirs["rouge1"].fmeasure
    assert rouge_l(answer, reference) == theirs["rougeL"].fmeasure


def test_rouge_by_hand() -> None:
    assert rouge_1("The quick fox", "the fox!") == 0.8
    assert rouge_l("fox the", "the fox") == 0.5, "order matters"
    assert rouge_1("fox the", "the fox") == 1.0, "order does not matter"
    assert rouge_1("", "the fox") == rouge_l("", "the fox") == rouge_l("...", "...") == 0.0
    assert aggregate(HEADLINE, ["the fox", ""], ["the fox", "a"]) == {
        "rouge-1": 0.5,
        "rouge-l": 0.5,
    }


@pytest.mark.parametrize("task", [CITATION, TAGS], ids=lambda task: task.name)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_accuracy_and_macro_f1_are_those_of_scikit_learn(task: Task) -> None:
    draw = random.Random(2)
    place = {label: i for i, label in enumerate(task.labels)}
    for _ in range(300):
        # Few labels of the list, so that most are never seen; answers may be outside of it.
        wanted = draw.choices(draw.sample(task.labels, draw.randint(1, len(task.labels))), k=20)
        answers = [
            draw.choice([reference, f" {reference}\n", *task.labels, "", "none", reference.upper()])
            for reference in wanted
        ]
        found = [place.get(answer.strip(), -1) for answer in answers]
        gold = [place[reference] for reference in wanted]
        f1 = sk.f1_score(gold, found, labels=range(len(place)), average="macro", zero_division=0)
        ours = aggregate(task, answers, wanted)
        assert ours == pytest.approx({"accuracy": sk.accuracy_score(gold, found), "f1": f1})


def test_macro_f1_counts_labels_that_nobody_named() -> None:
    # "[1]": 2·1/(1+2) = 2/3; "[2]" is neither answered rightly nor wanted: 0.
    assert aggregate(CITATION, ["[1]", "[2]"], ["[1]", "[1]"]) == {"accuracy": 0.5, "f1": 1 / 3}
    one_of_15 = aggregate(TAGS, ["comedy"], ["comedy"])
    assert one_of_15 == {"accuracy": 1.0, "f1": pytest.approx(1 / 15)}
    assert aggregate(CITATION, ["1"], ["[1]"]) == {"accuracy": 0.0, "f1": 0.0}, "no guessing"


def test_ratings_are_those_of_scikit_learn() -> None:
    draw = random.Random(3)
    for _ in range(300):
        wanted = [draw.choice(RATING.labels) for _ in range(20)]
        answers = [draw.choice(["1", " 2 ", "3.5", "4\n", "5.0", "7", "-1"]) for _ in wanted]
        gold, found = [float(y) for y in wanted], [float(x) for x in answers]
        ours = aggregate(RATING, answers, wanted)
        assert ours == pytest.approx(
            {
                "mae": sk.mean_absolute_error(gold, found),
                "rmse": sk.root_mean_squared_error(gold, found),
            }
        )


@pytest.mark.parametrize("answer", ["", "four", "4 stars", "nan", "NaN", "inf", "-Infinity", "4."])
@pytest.mark.parametrize(("reference", "error"), [("1", 4), ("2", 3), ("3", 2), ("4", 3), ("5", 4)])
def test_an_unparseable_rating_is_as_wrong_as_can_be(
    answer: str, reference: str, error: int
) -> None:
    scores = example_scores(RATING, answer, reference)
    if answer == "4.":  # a number to Python, but no label
        assert scores["absolute-error"] == abs(4 - float(reference))
        assert (scores["unparseable"], scores["outside-labels"]) == (0, 1)
    else:
        assert (scores["absolute-error"], scores["squared-error"]) == (error, error**2)
        assert (scores["unparseable"], scores["outside-labels"]) == (1, 1)


def test_the_scale_of_a_rating_is_that_of_the_task() -> None:
    percent = replace(RATING, name="percent", labels=("0", "50", "100"))
    assert example_scores(percent, "?", "60")["absolute-error"] == 60
    words = replace(RATING, name="words", labels=("good", "bad"))
    with pytest.raises(
        ConfigError, match="task 'words': mae and rmse need labels that are numbers"
    ):
        example_scores(words, "?", "1")
    with pytest.raises(DataError, match="the reference 'good' is not a number"):
        example_scores(RATING, "1", "good")


def test_answers_at_fault_are_counted() -> None:
    of_tags = [example_scores(TAGS, answer, "comedy") for answer in ("comedy", "Comedy", "")]
    assert faults(of_tags) == {"outside-labels": 2}
    ratings = [example_scores(RATING, answer, "3") for answer in ("3", "3.5", "nan")]
    assert faults(ratings) == {"unparseable": 1, "outside-labels": 2}
    assert faults([example_scores(HEADLINE, "", "a")]) == {}


def test_higher_is_better_once_oriented() -> None:
    assert oriented(RATING, "2", "5") == -3
    assert oriented(CITATION, "[1]", "[1]") == 1
    assert oriented(HEADLINE, "the quick fox", "the fox") == 0.8
    by_f1 = replace(CITATION, metrics=("f1",))
    assert oriented(by_f1, "[2]", "[1]") == 0
    by_rmse = replace(RATING, metrics=("rmse",))
    assert oriented(by_rmse, "2", "5") == -9


def test_a_task_without_labels_has_no_f1() -> None:
    free = replace(CITATION, name="free", labels=())
    assert example_scores(free, " yes", "yes") == {"accuracy": 1.0}
    with pytest.raises(ConfigError, match="task 'free': f1 is a mean over labels"):
        aggregate(free, ["yes"], ["yes"])
    with pytest.raises(ValueError, match="no answers"):
        aggregate(CITATION, [], [])


def test_parts_of_many_draws_at_once() -> None:
    answers, wanted = ["[1]", "[2]", "[1]", "x"], ["[1]", "[1]", "[2]", "[2]"]
    scores = [example_scores(CITATION, *both) for both in zip(answers, wanted, strict=True)]
    parts = metric_parts(CITATION, "f1", answers, wanted, scores)
    draws = np.array([[0, 1, 2, 3], [0, 0, 1, 1]])
    found = metric_value("f1")(parts[draws].mean(axis=1))
    assert found.tolist() == pytest.approx(
        [aggregate(CITATION, [answers[i] for i in d], [wanted[i] for i in d])["f1"] for d in draws]
    )
