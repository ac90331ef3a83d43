"""A page with every kind of chart; all numbers are made up."""

from __future__ import annotations

from enough.diagnostics.sections import (
    BarChart,
    Dot,
    DotChart,
    HeatMap,
    Line,
    LineChart,
    Panel,
    Point,
    Section,
    Value,
    table,
)
from enough.evaluation.intervals import Interval
from enough.report.page import Page

TASKS = tuple(f"LaMP-{number}" for number in (1, 2, 3, 4, 5, 7))


def fixed_length() -> Section:
    lengths = (0, 1, 3, 5, 10)
    ticks = tuple((float(k), str(k)) for k in lengths)

    def chart(title: str, y: str, values: tuple[float, ...], half: float) -> LineChart:
        points = tuple(
            Point(k, v, v - half, v + half) for k, v in zip(lengths, values, strict=True)
        )
        return LineChart(title, "records in the prompt (k)", y, (Line("BM25", points),), ticks)

    quality = chart("Quality", "Quality index", (93.1, 97.2, 99.4, 100.3, 98.8), 1.4)
    tokens = chart("Tokens", "Added tokens", (0, 91, 270, 452, 897), 20)
    rows = [
        (k, Interval(q, q - 1.4, q + 1.4), t, h)
        for k, q, t, h in zip(
            lengths,
            (93.1, 97.2, 99.4, 100.3, 98.8),
            (0, 91, 270, 452, 897),
            (0.0, 0.06, 0.098, 0.127, 0.183),
            strict=True,
        )
    ]
    ours = table(
        [("k", "count"), ("Quality", "quality"), ("Tokens", "count"), ("Harm", "share")], rows
    )
    paper_rows = [(0, 88.0, 0, 0.0), (1, 93.2, 118, 0.071), (3, 96.0, 352, 0.112)]
    paper_chart = LineChart(
        "Quality",
        "k",
        "Quality index",
        (Line("Contriever", (Point(0, 88.0), Point(1, 93.2), Point(3, 96.0))),),
    )
    return Section(
        "fixed-length",
        "Fixed length",
        "Does a longer history always help?",
        "No: quality peaks at k = 5 (100.3) and falls to 98.8 at k = 10, where 18.3% of the "
        "requests are answered worse than with no history at all.",
        (Panel("Bands are 95% intervals over users.", ours, (quality, tokens)),),
        (
            Panel(
                "Fixed-length diagnostic, time-based split.",
                table(
                    [
                        ("k", "count"),
                        ("Quality", "quality"),
                        ("Tokens", "count"),
                        ("Harm", "share"),
                    ],
                    paper_rows,
                ),
                (paper_chart,),
            ),
        ),
        (
            "Harm is the share of requests that are answered worse than with the empty prompt.",
            "Quality is normalised so that the best fixed length of each task's selection split "
            "is 100.",
        ),
    )


def calibration() -> Section:
    bins = (
        (0.08, 0.05, 41),
        (0.27, 0.22, 30),
        (0.52, 0.55, 18),
        (0.71, 0.63, 22),
        (0.93, 0.96, 51),
    )
    points = tuple(Point(x, y, max(0, y - 0.12), min(1, y + 0.1), f"n = {n}") for x, y, n in bins)
    chart = LineChart(
        "Reliability of STOP",
        "predicted confidence",
        "Share of teacher's STOPs",
        (Line("controller", points),),
        y_format="share",
        has_diagonal=True,
    )
    rows = [(f"bin {i}", n, x, Interval(y, y - 0.12, y + 0.1)) for i, (x, y, n) in enumerate(bins)]
    ours = table(
        [("Bin", "text"), ("Count", "count"), ("Confidence", "share"), ("Frequency", "share")], rows
    )
    return Section(
        "stop-calibration",
        "Stop calibration",
        "When the controller says STOP with 80% confidence, is it right in 80% of the cases?",
        "Nearly: the expected calibration error is 0.041 over 162 decisions.",
        (Panel("Whiskers are Wilson intervals.", ours, (chart,)),),
        (Panel("Paper's reliability curve.", ours, (chart,)),),
    )


def continuation() -> Section:
    groups = tuple(
        f"{who} +{d}" for who in ("controller", "retriever", "oracle") for d in (1, 2, 3)
    )
    series = ("beneficial", "redundant", "cost not worth", "harmful")
    values = (
        (0.05, 0.06, 0.06, 0.08, 0.09, 0.1, 0.15, 0.16, 0.14),
        (0.61, 0.55, 0.5, 0.52, 0.48, 0.41, 0.5, 0.42, 0.39),
        (0.22, 0.25, 0.28, 0.24, 0.23, 0.26, 0.25, 0.28, 0.29),
        (0.12, 0.14, 0.16, 0.16, 0.2, 0.23, 0.1, 0.14, 0.18),
    )
    chart = BarChart(
        "What another record would have done",
        "Share of stopped prefixes",
        groups,
        series,
        values,
        y_format="share",
        is_stacked=True,
    )
    few = BarChart(
        "Mean change of net value",
        "Net value",
        ("+1", "+2", "+3"),
        ("controller", "retriever"),
        ((-0.02, -0.05, -0.09), (-0.04, -0.08, None)),
        y_format="signed",
    )
    one = BarChart(
        "Stops",
        "Requests",
        ("none", "one record", "two records", "three or more"),
        ("all",),
        ((12.0, 40.0, 22.0, 7.0),),
        y_format="count",
    )
    rows: list[tuple[Value, ...]] = [(g, *(row[i] for row in values)) for i, g in enumerate(groups)]
    shown = table([("Continuation", "text"), *((s, "share") for s in series)], rows)
    return Section(
        "forced-continuation",
        "Forced continuation",
        "Would the controller have gained by going on?",
        "Rarely: 5.0% of the first forced records are beneficial, 12.0% harmful.",
        (Panel("Categories are exclusive and exhaustive.", shown, (chart, few, one)),),
    )


def ablations() -> Section:
    dots = (
        Dot("without long-horizon targets", -0.031, -0.05, -0.012),
        Dot("without adaptive stopping (always three records)", -0.022, -0.047, 0.004),
        Dot("without user specificity", -0.013, -0.02, -0.006),
        Dot("without token cost", 0.006, -0.004, 0.015),
        Dot("order-free encoding", 0.011),
    )
    chart = DotChart("Change from the full controller", "Change of accuracy", dots, "signed")
    rows = [
        (d.label, d.value if d.low is None or d.high is None else Interval(d.value, d.low, d.high))
        for d in dots
    ]
    shown = table([("Ablation", "text"), ("Δ accuracy", "signed")], rows)
    return Section(
        "ablations",
        "Ablations",
        "Which part of the controller carries the gain?",
        "Long-horizon targets: without them accuracy falls by 0.031 [−0.050, −0.012].",
        (Panel("Hollow dots: the interval holds 0.", shown, (chart,)),),
        (Panel("Main ablation figure.", shown, (chart,)),),
    )


def retrievers() -> Section:
    names = ("BM25", "Contriever", "MiniLM", "late interaction")
    values = (
        (0.012, 0.031, -0.004, 0.008, 0.02, 0.0),
        (0.022, 0.015, 0.004, 0.018, 0.01, -0.013),
        (-0.021, 0.005, 0.009, 0.002, 0.03, 0.024),
        (0.004, None, 0.012, 0.028, 0.006, 0.017),
    )
    gaps = HeatMap("Gap to the strongest baseline", names, TASKS, values, "signed", True)
    scores = HeatMap(
        "ROUGE-L",
        ("4B", "9B", "27B"),
        ("news headlines", "scholarly titles", "tweets"),
        ((17.2, 41.1, 38.8), (18.4, 43.9, 40.2), (19.9, 44.6, 42.0)),
        "quality",
    )
    shown = table(
        [("Retriever", "text"), *((task, "signed") for task in TASKS)],
        [(name, *row) for name, row in zip(names, values, strict=True)],
    )
    return Section(
        "retrievers",
        "Retriever independence",
        "Does the gain depend on the first stage?",
        "No: 19 of 23 gaps are positive.",
        (Panel("Blue: better than the baseline.", shown, (gaps, scores)),),
        notes=("An empty cell was not measured.",),
    )


def sweeps() -> Section:
    costs = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
    quality = (100.9, 101.2, 101.0, 100.1, 99.0, 97.2, 95.0, 93.4)
    tokens = (810, 420, 300, 210, 150, 92, 31, 4)
    frontier = LineChart(
        "Frontier of quality against tokens",
        "added tokens",
        "Quality index",
        tuple(
            Line(
                name,
                tuple(
                    Point(t * by, q - down, note=f"λ = {c}")
                    for c, q, t in zip(costs, quality, tokens, strict=True)
                ),
            )
            for name, by, down in (("ENOUGH", 1.0, 0.0), ("fixed length", 1.2, 2.0))
        ),
        y_format="quality",
    )
    many = LineChart(
        "Sweep over λ by task",
        "λ",
        "Quality index",
        tuple(
            Line(
                task,
                tuple(
                    Point(c, q - i * 1.7 + (i * 7 % 3) * c, q - i * 1.7 - 0.8, q - i * 1.7 + 0.9)
                    for c, q in zip(costs, quality, strict=True)
                ),
            )
            for i, task in enumerate(TASKS)
        ),
        tuple((c, str(c)) for c in costs),
        "quality",
        marked=0.05,
    )
    cloud = LineChart(
        "Training time against quality",
        "hours",
        "Quality index",
        tuple(
            Line(n, (Point(x, y, y - 0.6, y + 0.6),))
            for n, x, y in (
                ("RSPG", 31.0, 97.0),
                ("ROPG", 22.0, 96.1),
                ("PURPLE", 40.0, 98.2),
                ("ENOUGH", 12.0, 100.4),
            )
        ),
        is_joined=False,
    )
    shown = table(
        [("λ", "number"), ("Quality", "quality"), ("Tokens", "count"), ("p50", "milliseconds")],
        [(c, q, t, 1234.567 * c) for c, q, t in zip(costs, quality, tokens, strict=True)],
    )
    return Section(
        "sweeps",
        "Sweeps",
        "How sensitive are the results to λ?",
        "Between λ = 0.01 and 0.05 quality stays within 1.1 points.",
        (Panel("The chosen setting is set apart.", shown, (frontier, many, cloud)),),
    )


def made_up_page(*extra: Section) -> Page:
    sections = (
        fixed_length(), continuation(), calibration(), ablations(), retrievers(), sweeps(),
    )  # fmt: skip
    facts = (
        ("requests", "162"),
        ("users", "48"),
        ("generator", "SmolLM2-135M-Instruct"),
        ("retriever", "BM25"),
        ("seeds", "0, 1, 2"),
    )
    settings = "\n".join(
        ["[run]", "seeds = [0, 1, 2]", "", "[teacher]", "beta = 1.0", "lambda = 0.05"]
        + [f'a_rather_long_setting_number_{i} = "with a value that is long enough to scroll"'
           for i in range(30)]
    )  # fmt: skip
    return Page(
        "How much history is enough?",
        "Every diagnostic of the synthetic world, with the demo controller. All numbers here are "
        "made up.",
        facts,
        (*sections, *extra),
        settings,
        "enough 0.1.0 · enough report runs/demo",
    )
