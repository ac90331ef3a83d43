"""A small study by hand: two tasks, six users, rows of two methods, controls without an encoder."""

from __future__ import annotations

from enough.annotation.pairs import DrawnPairs, PairConfig, draw_pairs
from enough.data.leakage import LeakageControls
from enough.evaluation.rows import Row
from enough.records import Dataset, Example, History, Record, Request
from enough.tasks import LAMP_TASKS
from tests.evaluation.test_rows import make_row

OURS, THEIRS = "zorblax", "quuxify"
"""Names that no page could hold by chance."""
USERS = 6
CONTROLS = LeakageControls()


def reference(task: str, user: int) -> str:
    return f"Secretreference {task} number {user} that nobody may read"


def news(user: int) -> Request:
    return Request(
        id=f"news-{user}",
        user=f"u{user}",
        task=LAMP_TASKS["LaMP-4"],
        input=f"Generate a headline for the following article: The bridge number {user} is shut.",
        date="2020-06-01",
        moment=(2020, 6, 1),
    )


def tweet(user: int) -> Request:
    return Request(
        id=f"tweet-{user}",
        user=f"u{user}",
        task=LAMP_TASKS["LaMP-7"],
        input="Paraphrase the following tweet without any explanation before or after it: "
        f"I have missed bus number {user}.",
    )


def past(user: int, day: int, action: str) -> Record:
    return Record(
        id=f"r{user}-{day}",
        owner=f"u{user}",
        context=f"Article of user {user} about harbour matter {day}.",
        action=action,
        date=f"2020-05-{day:02d}",
        moment=(2020, 5, day),
    )


def datasets(users: int = USERS) -> list[Dataset]:
    headlines: dict[str, History] = {
        f"u{user}": (
            past(user, 1, f"First headline of {user}"),
            past(user, 9, f"Second headline of {user}"),
            past(user, 5, f"Third headline of {user}"),
        )
        for user in range(users)
    }
    tweets: dict[str, History] = {
        f"u{user}": (Record(f"t{user}", f"u{user}", "", f"lol said user {user}"),)
        for user in range(users)
    }
    return [
        Dataset(
            LAMP_TASKS["LaMP-4"],
            headlines,
            {"dev": tuple(Example(news(u), reference("LaMP-4", u)) for u in range(users))},
        ),
        Dataset(
            LAMP_TASKS["LaMP-7"],
            tweets,
            {"dev": tuple(Example(tweet(u), reference("LaMP-7", u)) for u in range(users))},
        ),
    ]


def rows(users: int = USERS) -> list[Row]:
    """The first user's headlines are the same but for a space; everything else differs."""
    found = []
    for dataset in datasets(users):
        for example in dataset.splits["dev"]:
            request = example.request
            task = dataset.task.name
            for method, answer in ((OURS, "Alpha answer"), (THEIRS, "Beta answer")):
                text = f"{answer} to {request.id}"
                if request.id == "news-0":
                    text = "The same" if method == OURS else "The  same "
                found.append(
                    make_row(
                        method=method,
                        task=task,
                        request_id=request.id,
                        user=request.user,
                        answer=text,
                        reference=example.reference,
                    )
                )
    return found


def config(**changes: object) -> PairConfig:
    values: dict[str, object] = {"method": OURS, "against": THEIRS}
    return PairConfig(**(values | changes))  # type: ignore[arg-type]


def drawn(**changes: object) -> DrawnPairs:
    return draw_pairs(rows(), datasets(), CONTROLS, config(**changes))
