# SPDX-License-Identifier: BSD-2-Clause
"""All results of a comparison as JSON, as text and as Markdown."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .judge import Verdict
from .measure import Cell, Series
from .patterns import BY_NAME, Pattern, size_name

FORMAT = 1

PAGE_HEAD = """\
# The last run

`bench/compare` writes this page and its picture; nobody edits them:

    ./dev bench
    cp build/compare/table.md docs/performance-run.md
    cp build/compare/overview.svg docs/performance.svg

[performance.md](performance.md) is the promise, [performance-notes.md](performance-notes.md) the
notebook.
"""
PAGE_PICTURE = """\
![Latency, bandwidth, rates and processor time by size, with the lowest and highest of the
runs](performance.svg)
"""


@dataclass
class Peer:
    """A contestant as the report names it."""

    name: str
    label: str
    note: str
    version: str
    counts_cpu: bool


@dataclass
class Results:
    """One comparison."""

    started: str
    command: str
    runs: int
    machine: dict[str, object]
    peers: list[Peer] = field(default_factory=list)
    absent: dict[str, str] = field(default_factory=dict)  # label: why
    cells: list[Cell] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    load: dict[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    guest: dict[str, Any] | None = None  # as_json of the comparison in a virtual machine

    @property
    def labels(self) -> dict[str, str]:
        return {peer.name: peer.label for peer in self.peers}

    def patterns(self) -> list[Pattern]:
        return list(dict.fromkeys(cell.pattern for cell in self.cells))

    def of(self, pattern: Pattern) -> list[Cell]:
        return [cell for cell in self.cells if cell.pattern == pattern]


def spread(values: list[float], lower_is_better: bool) -> dict[str, float] | None:
    if not values:
        return None
    ordered = sorted(values)
    count = len(ordered)
    return {
        "median": (ordered[(count - 1) // 2] + ordered[count // 2]) / 2,
        "min": ordered[0],
        "max": ordered[-1],
        "best": ordered[0] if lower_is_better else ordered[-1],
    }


def series_json(cell: Cell, series: Series) -> dict[str, Any]:
    return {
        "value": spread(series.values, cell.pattern.lower_is_better),
        "cpu_seconds_per_gb": spread(series.cpu_per_gigabyte(), True),
        "iters": series.iters,
        "command": series.command,
        "failures": series.failures,
        "start_cpu_seconds": series.start_cpu_seconds,
        "samples": [
            {
                "value": sample.value,
                "pin": list(sample.pin),
                "cpu_seconds": round(sample.cpu_seconds, 6),
                "payload_bytes": sample.payload,
            }
            for sample in series.samples
        ],
    }


def cell_json(cell: Cell) -> dict[str, Any]:
    pattern = cell.pattern
    return {
        "pattern": pattern.name,
        "title": pattern.title,
        "op": pattern.op,
        "measure": pattern.measure,
        "mode": pattern.mode,
        "depth": pattern.depth,
        "size": cell.size,
        "unit": pattern.unit,
        "better": "lower" if pattern.lower_is_better else "higher",
        "contestants": {name: series_json(cell, series) for name, series in cell.series.items()},
    }


def as_json(results: Results) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "started": results.started,
        "seconds": round(results.seconds, 1),
        "command": results.command,
        "runs": results.runs,
        "machine": results.machine,
        "load": results.load,
        "contestants": [vars(peer) for peer in results.peers],
        "absent": results.absent,
        "cells": [cell_json(cell) for cell in results.cells],
        "verdicts": [{**vars(verdict), "verdict": verdict.word} for verdict in results.verdicts],
        "guest": results.guest,
    }


def readable(pattern: Pattern, value: float | None) -> str:
    """Returns the value in the unit of heading."""
    if value is None:
        return ""
    if pattern.measure == "bw":
        return f"{value / 1e6:.0f}"
    if pattern.measure == "rate":
        return f"{value / 1e6:.2f}"
    return f"{value:.1f}" if value < 100 else f"{value:.0f}"


def heading(pattern: Pattern) -> str:
    unit = {"lat": "us", "bw": "MB/s", "rate": "million/s"}[pattern.measure]
    return f"{pattern.title}, {unit}"


def entry(cell: Cell, name: str) -> str:
    """Returns the median (min to max), or the failure."""
    series = cell.series.get(name)
    if series is None:
        return ""
    if not series.samples:
        return "failed"
    low, high = min(series.values), max(series.values)
    pattern = cell.pattern
    text = f"{readable(pattern, series.median)} ({readable(pattern, low)}-{readable(pattern, high)})"
    return text + (f" {len(series.failures)} failed" if series.failures else "")


def pattern_peers(results: Results, pattern: Pattern) -> list[str]:
    seen = {name for cell in results.of(pattern) for name in cell.series}
    return [name for name in results.labels if name in seen]


def table(results: Results, pattern: Pattern) -> list[list[str]]:
    """Returns the rows of a pattern's table, the head first: a row for each contestant, a column
    for each size.
    """
    cells = results.of(pattern)
    rows = [[heading(pattern)] + [size_name(cell.size) for cell in cells]]
    for name in pattern_peers(results, pattern):
        rows.append([results.labels[name]] + [entry(cell, name) for cell in cells])
    return rows


def cpu_table(results: Results, pattern: Pattern) -> list[list[str]]:
    """Returns the same table for CPU seconds per GB, for streams only."""
    cells = results.of(pattern)
    rows = [[f"{pattern.title}, CPU seconds per GB"] + [size_name(cell.size) for cell in cells]]
    for peer in results.peers:
        if not peer.counts_cpu or peer.name not in pattern_peers(results, pattern):
            continue
        found = [spread(cell.series[peer.name].cpu_per_gigabyte(), True) if peer.name in cell.series else None
                 for cell in cells]
        rows.append([peer.label] + [f"{one['median']:.3f}" if one else "" for one in found])
    return rows


def verdict_table(results: Results) -> list[list[str]]:
    rows = [["wanted", "ratio of", "to", "medians", "best runs", "limit", ""]]
    for verdict in results.verdicts:
        numbers = [verdict.shown(one) for one in (verdict.ratio, verdict.ratio_best)]
        limit = f"{verdict.sign} {verdict.limit:g}"
        rows.append([verdict.measure, verdict.ours, verdict.theirs, *numbers, limit, verdict.word])
    return rows


def guest_lines(results: Results) -> list[str]:
    """Returns what failed in a virtual machine, or why there is none."""
    guest = results.guest or {"cells": []}
    if "error" in guest:
        return [f"virtual machine: failed: {guest['error']}"]
    return [
        f"virtual machine: {cell['pattern']} {cell['size']}: {name} failed: {failure}"
        for cell in guest["cells"]
        for name, series in cell["contestants"].items()
        for failure in dict.fromkeys(series["failures"])
    ]


def warnings(results: Results) -> list[str]:
    """Returns reasons why the figures may mean little."""
    others = results.load.get("other_programs", 0.0) + results.load.get("stolen", 0.0)
    return [f"{others:.0%} of the processors went to others: these figures mean little"] if others > 0.05 else []


def figure_tables(results: Results) -> list[list[list[str]]]:
    found = [table(results, pattern) for pattern in results.patterns()]
    found += [cpu_table(results, one) for one in results.patterns() if one.measure == "bw"]
    if results.guest and "error" not in results.guest:
        found += guest_tables(results.guest)
    return found


def tables(results: Results) -> list[list[list[str]]]:
    return figure_tables(results) + ([verdict_table(results)] if results.verdicts else [])


def plain(rows: list[list[str]]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        first, rest = row[0].ljust(widths[0]), row[1:]
        lines.append("  ".join([first] + [text.rjust(width) for text, width in zip(rest, widths[1:])]).rstrip())
    return "\n".join(lines) + "\n"


def markdown(rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "| " + " | ".join(["---"] * len(rows[0])) + " |")
    return "\n".join(lines) + "\n"


def machine_lines(results: Results) -> list[str]:
    """Returns the machine and the programs, one line each."""
    facts = results.machine
    virtual = "virtual machine, " if facts.get("virtual") else ""
    lines = [
        f"{virtual}{facts.get('processors')} processors {facts.get('processor')} ({facts.get('caches')}), "
        f"{int(str(facts.get('memory_bytes', 0))) / 2**30:.1f} GiB",
        f"{facts.get('distribution')}, {facts.get('kernel')}, TCP congestion control {facts.get('congestion_control')}",
        f"itapi built: {facts.get('build') or 'unknown'}",
        f"other programs used {results.load.get('other_programs', 0):.1%} of the processors, "
        f"the host took {results.load.get('stolen', 0):.1%}",
    ]
    return lines + [f"{peer.label}: {peer.version}; {peer.note}" for peer in results.peers]


def document(results: Results) -> str:
    """Returns the page docs/performance-run.md."""
    head = (
        f"{PAGE_HEAD}\n`{results.command}`, {results.started}, {results.runs} runs of each (twice as many of "
        f"streams), medians (lowest to highest).\n\n{PAGE_PICTURE}\n"
    )
    facts = "".join(f"- {line}\n" for line in machine_lines(results))
    facts += "".join(f"- {label}: not measured: {reason}\n" for label, reason in results.absent.items())
    judged = "## What is promised\n\n" + markdown(verdict_table(results)) + "\n" if results.verdicts else ""
    values = "\n".join(markdown(rows) for rows in figure_tables(results))
    return f"{head}{facts}\n{judged}## Figures\n\n{values}"


def guest_tables(guest: dict[str, Any]) -> list[list[list[str]]]:
    """Returns the tables of another comparison, from its JSON."""
    found = []
    labels = {peer["name"]: peer["label"] for peer in guest["contestants"]}
    for name in dict.fromkeys(cell["pattern"] for cell in guest["cells"]):
        cells = [cell for cell in guest["cells"] if cell["pattern"] == name]
        pattern = BY_NAME[name]
        rows = [[f"virtual machine: {heading(pattern)}"] + [size_name(cell["size"]) for cell in cells]]
        for peer, label in labels.items():
            if any(peer in cell["contestants"] for cell in cells):
                rows.append([label] + [guest_entry(pattern, cell["contestants"].get(peer)) for cell in cells])
        found.append(rows)
    return found


def guest_entry(pattern: Pattern, series: dict[str, Any] | None) -> str:
    if series is None:
        return ""
    value = series["value"]
    if value is None:
        return "failed"
    low, high = readable(pattern, value["min"]), readable(pattern, value["max"])
    return f"{readable(pattern, value['median'])} ({low}-{high})"
