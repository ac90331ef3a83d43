"""The paper's own tables of cost: efficiency, app-latency-components and app-offline-cost."""

from __future__ import annotations

from enough.diagnostics.sections import Format, Panel, table

ONLINE = (
    ("ENOUGH", 100.00, 510, 1, 370, 440),
    ("PURPLE", 96.49, 905, 1, 398, 474),
    ("RankGPT", 96.32, 869, 6, 1120, 1379),
    ("REPLUG", 95.38, 1388, 5, 1323, 1595),
    ("IC-RALM", 94.82, 1210, 7, 1463, 1793),
    ("ICR", 94.30, 819, 4, 865, 1049),
    ("RSPG-Pre", 94.29, 765, 3, 796, 951),
    ("Contriever", 92.17, 931, 1, 365, 442),
    ("BM25", 90.96, 905, 1, 360, 421),
)
PARTS = (
    ("Contriever-5", 17, None, 1, 362, 15),
    ("PURPLE-5", 18, None, 10, 357, 16),
    ("ENOUGH", 17, 11, None, 325, 17),
)
OFFLINE = ((9.7, 0.748, 336, 95, 95),)

_ONLINE: tuple[tuple[str, Format], ...] = (
    ("Method", "text"),
    ("Quality", "quality"),
    ("Tokens", "count"),
    ("Calls", "count"),
    ("p50 ms", "milliseconds"),
    ("p95 ms", "milliseconds"),
)
_PARTS: tuple[tuple[str, Format], ...] = (
    ("Method", "text"),
    ("Retrieval", "milliseconds"),
    ("Controller", "milliseconds"),
    ("Selector", "milliseconds"),
    ("Generator", "milliseconds"),
    ("Other", "milliseconds"),
)
_OFFLINE: tuple[tuple[str, Format], ...] = (
    ("Teacher calls, millions", "number"),
    ("Cache hit", "share"),
    ("GPU hours", "count"),
    ("Storage, GB", "count"),
    ("Extra GPU hours per λ", "count"),
)
PAPER_PANELS = (
    Panel("Table efficiency: six LaMP tasks, a machine with one GPU.", table(_ONLINE, ONLINE)),
    Panel("Table app-latency-components: medians in milliseconds.", table(_PARTS, PARTS)),
    Panel("Table app-offline-cost: labels of one operating point.", table(_OFFLINE, OFFLINE)),
)
