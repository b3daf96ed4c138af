# SPDX-License-Identifier: BSD-2-Clause
"""Compares this build with an older one that takes part twice: differences between those two are
noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from .measure import Cell
from .patterns import size_name

TWINS = ("before", "before_again")
NOW = "itapi"

# A row, beyond the difference of the twins; all rows together.
ROW_LIMIT = 1.02
MEAN_LIMIT = 1.005


@dataclass(frozen=True)
class Row:
    """A pattern at a size. Ratios are of times: above 1 is slower."""

    title: str
    ratio: float  # this build to the mean of the twins
    noise: float  # the slower twin to the faster one, less 1

    @property
    def holds(self) -> bool:
        return self.ratio <= ROW_LIMIT + self.noise

    @property
    def line(self) -> str:
        word = "ok" if self.holds else "slower"
        return f"{self.title:<58}{self.ratio:8.3f}{ROW_LIMIT + self.noise:8.3f}  {word}"


def row(cell: Cell) -> Row | None:
    """Returns None if one of the three has no figure."""
    medians = []
    for name in (NOW, *TWINS):
        series = cell.series.get(name)
        if series is None or series.median is None:
            return None
        medians.append(series.median if cell.pattern.lower_is_better else 1 / series.median)
    now, *twins = medians
    title = f"{cell.pattern.title}, {size_name(cell.size)}"
    return Row(title, now / math.sqrt(twins[0] * twins[1]), max(twins) / min(twins) - 1)


def lines(cells: list[Cell]) -> list[str]:
    """Returns one line for each row."""
    rows = [found for found in map(row, cells) if found is not None]
    if not rows:
        return ["nothing to set beside the build before"]
    mean = math.exp(sum(math.log(one.ratio) for one in rows) / len(rows))
    word = "ok" if mean <= MEAN_LIMIT else "slower"
    return [
        f"{'time now to before':<58}{'ratio':>8}{'limit':>8}",
        *(one.line for one in rows),
        f"{'geometric mean':<58}{mean:8.3f}{MEAN_LIMIT:8.3f}  {word}",
    ]
