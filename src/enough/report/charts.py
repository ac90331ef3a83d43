"""Any chart as a figure for the page.

In: a chart. Out: its drawings for wide and for narrow places; the page shows the one that fits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from enough.diagnostics.sections import BarChart, Chart, DotChart, HeatMap, LineChart
from enough.report.bar_chart import bar_chart
from enough.report.dot_chart import dot_chart
from enough.report.frame import NARROW, WIDE
from enough.report.heat_map import heat_map
from enough.report.line_chart import line_chart
from enough.report.svg import element

# Each function takes its own kind of chart, which a mapping by type cannot say.
_DRAWN: Mapping[type, Callable[..., str]] = {
    LineChart: line_chart,
    BarChart: bar_chart,
    DotChart: dot_chart,
    HeatMap: heat_map,
}


def draw(chart: Chart) -> str:
    """Both drawings of a chart, in one box.

    Raises:
        ValueError: for a value that cannot be drawn, naming the chart.
    """
    function: Callable[[Any, Any], str] = _DRAWN[type(chart)]
    return element("div", function(chart, WIDE), function(chart, NARROW), class_="chart")
