# SPDX-License-Identifier: BSD-2-Clause
"""Line charts by message size, both axes logarithmic, as SVG."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

from .patterns import size_name

WIDTH, HEIGHT = 520, 340
LEFT, RIGHT, TOP, BOTTOM = 58, 14, 30, 40

# Colours that remain apart for the colour-blind; the same contestant has the same one everywhere.
LOOKS = {
    "itapi": ("#0072b2", ""),
    "itapi_nocrc": ("#56b4e9", ""),
    "itapi_coalesce": ("#0072b2", "2 3"),
    "itapi_nospin": ("#0072b2", "7 3"),
    "tcp": ("#808080", ""),
    "tcp_same": ("#808080", "7 3"),
    "tcp_sums": ("#808080", "2 3"),
    "libfabric": ("#d55e00", ""),
    "fi_pingpong": ("#e69f00", "7 3"),
    "ucx": ("#009e73", ""),
    "itapi_device": ("#56b4e9", "7 3"),
    "perftest": ("#cc79a7", ""),
}

STYLE = """
.chart text { font: 11px system-ui, sans-serif; fill: #333 }
.chart .title { font-size: 13px; font-weight: 600 }
.chart .grid { stroke: #8884; stroke-width: 1 }
.chart .paper { fill: #fff }
.chart .line { fill: none; stroke-width: 2 }
.chart .band { opacity: .16; stroke: none }
@media (prefers-color-scheme: dark) {
  .chart text { fill: #ddd }
  .chart .paper { fill: #16181c }
}
"""


@dataclass(frozen=True)
class Point:
    """Median, lowest and highest at a size."""

    size: int
    median: float
    low: float
    high: float


@dataclass
class Line:
    """One contestant."""

    name: str
    label: str
    points: list[Point] = field(default_factory=list)


@dataclass
class Chart:
    """One picture; lower_is_better is told beside the title."""

    name: str
    title: str
    unit: str
    lower_is_better: bool
    lines: list[Line] = field(default_factory=list)


class Scale:
    """A logarithmic axis."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        if low == high:
            low, high = low / 2, high * 2
        self.low, self.high = low, high
        self.start, self.end = start, end

    def at(self, value: float) -> float:
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.start + (self.end - self.start) * share

    def ticks(self) -> list[float]:
        """1, 2 and 5 of each power of ten; fewer if that are many."""
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        for steps in ((1, 2, 5), (1, 3), (1,)):
            found = [step * 10.0**power for power in range(first, last + 1) for step in steps]
            found = [value for value in found if self.low * 0.999 <= value <= self.high * 1.001]
            if len(found) <= 9:
                break
        return found


def number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.3g}"


def colour(name: str) -> tuple[str, str]:
    return LOOKS.get(name, ("#000000", ""))


def text(x: float, y: float, words: str, anchor: str = "middle", kind: str = "") -> str:
    cls = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{cls}>{escape(words)}</text>'


def axes(chart: Chart, across: Scale, upward: Scale) -> list[str]:
    parts = [
        f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>',
        text(LEFT - 44, 18, chart.title, "start", "title"),
        text(WIDTH - RIGHT, 18, f"{chart.unit}, {'less' if chart.lower_is_better else 'more'} is better", "end"),
    ]
    for tick in upward.ticks():
        y = upward.at(tick)
        parts.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
        parts.append(text(LEFT - 6, y + 4, number(tick), "end"))
    for size in sorted({point.size for line in chart.lines for point in line.points}):
        x = across.at(size)
        parts.append(f'<path class="grid" d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}"/>')
        parts.append(text(x, HEIGHT - BOTTOM + 16, size_name(size)))
    return parts


def draw_line(line: Line, across: Scale, upward: Scale, unit: str, aside: float) -> list[str]:
    stroke, dash = colour(line.name)
    points = [(across.at(one.size) + aside, one) for one in line.points]
    there = " ".join(f"{x:.1f},{upward.at(one.high):.1f}" for x, one in points)
    back = " ".join(f"{x:.1f},{upward.at(one.low):.1f}" for x, one in reversed(points))
    middle = " ".join(f"{x:.1f},{upward.at(one.median):.1f}" for x, one in points)
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    parts = [
        f'<polygon class="band" fill="{stroke}" points="{there} {back}"/>',
        f'<polyline class="line" stroke="{stroke}"{dashes} points="{middle}"/>',
    ]
    for x, one in points:
        said = (
            f"{line.label}, {size_name(one.size)}: {number(one.median)} {unit} "
            f"({number(one.low)} to {number(one.high)})"
        )
        # The spread at a single size has no area: a bar shows it.
        parts.append(
            f'<path stroke="{stroke}" stroke-opacity=".5" '
            f'd="M{x:.1f} {upward.at(one.low):.1f}V{upward.at(one.high):.1f}"/>'
            f'<circle cx="{x:.1f}" cy="{upward.at(one.median):.1f}" r="3.5" fill="{stroke}">'
            f"<title>{escape(said)}</title></circle>"
        )
    return parts


def draw(chart: Chart) -> str:
    """What is inside of an svg element, without its style; empty if there is nothing to draw."""
    points = [point for line in chart.lines for point in line.points]
    if not points:
        return ""
    sizes = [point.size for point in points]
    across = Scale(min(sizes), max(sizes), LEFT + 18, WIDTH - RIGHT - 22)
    low, high = min(point.low for point in points), max(point.high for point in points)
    upward = Scale(low / 1.15, high * 1.15, HEIGHT - BOTTOM, TOP)
    parts = axes(chart, across, upward)
    lines = [line for line in chart.lines if line.points]
    for index, line in enumerate(lines):
        # At a single size they would hide each other.
        aside = (index - (len(lines) - 1) / 2) * 26 if len(set(sizes)) == 1 else 0.0
        parts += draw_line(line, across, upward, chart.unit, aside)
    return "\n".join(parts)


def legend(lines: dict[str, str], width: int) -> tuple[str, int]:
    """Colours and labels in rows of a width, and how high that is."""
    parts, x, y = [], 14.0, 16
    for name, label in lines.items():
        room = 40 + 6.4 * len(label)
        if x + room > width and x > 14:
            x, y = 14.0, y + 18
        stroke, dash = colour(name)
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        parts.append(f'<path class="line" stroke="{stroke}"{dashes} d="M{x:.0f} {y - 4}h22"/>')
        parts.append(text(x + 28, y, label, "start"))
        x += room
    return "\n".join(parts), y + 10


def picture(charts: list[Chart], columns: int) -> str:
    """A file of its own with several charts and one legend."""
    drawn = [content for content in map(draw, charts) if content]
    columns = min(columns, max(1, len(drawn)))
    lines = {line.name: line.label for chart in charts for line in chart.lines if line.points}
    width = columns * WIDTH
    key, key_height = legend(lines, width)
    height = key_height + HEIGHT * math.ceil(len(drawn) / columns)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}">',
        f"<style>{STYLE}</style>",
        f'<rect class="paper" width="{width}" height="{height}"/>',
        key,
    ]
    for index, content in enumerate(drawn):
        x, y = index % columns * WIDTH, key_height + index // columns * HEIGHT
        parts.append(f'<g transform="translate({x} {y})">\n{content}\n</g>')
    return "\n".join(parts) + "\n</svg>\n"
