# SPDX-License-Identifier: BSD-2-Clause
"""The report: one HTML file that needs nothing else."""

from __future__ import annotations

import base64
import os
from html import escape
from typing import Any

from . import results as outcome
from .patterns import size_name
from .results import Results

PAGE_STYLE = """
:root { color-scheme: light dark; --line: #8885; --soft: #8882; --good: #087f3f; --bad: #b3261e }
@media (prefers-color-scheme: dark) { :root { --good: #5fd38d; --bad: #ff8a80 } }
body { font: 15px/1.45 system-ui, sans-serif; max-width: 1120px; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.6rem } h2 { font-size: 1.2rem; margin-top: 2.2rem }
figure { margin: 0 } .charts { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(420px, 1fr)) }
img { width: 100%; height: auto }
.scroll { overflow-x: auto } table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums }
th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap }
th:first-child, td:first-child { text-align: left } th { background: var(--soft) }
.ok { color: var(--good) } .over, .failed { color: var(--bad); font-weight: 600 }
pre { overflow-x: auto; background: var(--soft); padding: .6rem }
"""


def html_table(rows: list[list[str]]) -> str:
    def cell(tag: str, words: str) -> str:
        kind = words if words in ("ok", "over") else "failed" if "failed" in words else ""
        return f"<{tag}{f' class={chr(34)}{kind}{chr(34)}' if kind else ''}>{escape(words)}</{tag}>"

    lines = ["<tr>" + "".join(cell("th" if not number else "td", words) for words in row) + "</tr>"
             for number, row in enumerate(rows)]
    return '<div class="scroll"><table>\n' + "\n".join(lines) + "\n</table></div>"


def figures(folder: str, names: list[str]) -> str:
    """Returns the pictures as parts of the page."""
    parts = []
    for name in names:
        with open(os.path.join(folder, f"{name}.svg"), "rb") as stream:
            content = base64.b64encode(stream.read()).decode()
        parts.append(f'<figure><img alt="{escape(name)}" src="data:image/svg+xml;base64,{content}"></figure>')
    return '<div class="charts">\n' + "\n".join(parts) + "\n</div>" if parts else ""


def failures(results: Results) -> str:
    lines = [
        f"<li>{escape(results.labels[name])}, {escape(cell.pattern.title)}, {size_name(cell.size)}: "
        f"<code>{escape(failure)}</code></li>"
        for cell in results.cells
        for name, series in cell.series.items()
        for failure in dict.fromkeys(series.failures)
    ]
    lines += [f"<li>{escape(line)}</li>" for line in outcome.guest_lines(results)]
    lines += [f"<li>{escape(label)}: not measured: {escape(why)}</li>" for label, why in results.absent.items()]
    return "<h2>What failed or is missing</h2><ul>" + "\n".join(lines) + "</ul>" if lines else ""


def commands(results: Results) -> str:
    """Returns the last commands of each contestant, at one size of each pattern."""
    lines = [f"{escape(results.command)}\n"]
    for pattern in results.patterns():
        cells = results.of(pattern)
        cell = cells[len(cells) // 2]
        lines.append(f"# {pattern.title}, {size_name(cell.size)}")
        lines += [escape(series.command) for series in cell.series.values() if series.command]
    return "<pre>" + "\n".join(lines) + "</pre>"


def guest_part(guest: dict[str, Any] | None) -> str:
    """Returns the tables of a comparison in a virtual machine, made from its JSON."""
    if guest is None:
        return ""
    if "error" in guest:
        return "<h2>Kernel siw, in a virtual machine</h2><p class=failed>failed, see below</p>"
    parts = ["<h2>Kernel siw, in a virtual machine</h2>",
             f"<p>{escape(str(guest['machine']['kernel']))}, {guest['machine']['processors']} processors. "
             "These figures compare with each other only.</p>"]
    parts += [html_table(rows) for rows in outcome.guest_tables(guest)]
    return "\n".join(parts)


def page(results: Results, drawn: str) -> str:
    facts = "\n".join(f"<li>{escape(line)}</li>" for line in outcome.machine_lines(results))
    warned = "".join(f"<p class=over>{escape(line)}</p>" for line in outcome.warnings(results))
    values = [html_table(outcome.table(results, pattern)) for pattern in results.patterns()]
    values += [html_table(outcome.cpu_table(results, one)) for one in results.patterns() if one.measure == "bw"]
    judged = html_table(outcome.verdict_table(results)) if results.verdicts else ""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>itapi and its peers</title>
<style>{PAGE_STYLE}</style>
</head>
<body>
<h1>itapi and its peers</h1>
<p>{escape(results.started)}, {results.runs} runs of each and twice as many of streams, in turn, pinned both ways;
took {results.seconds:.0f} s. Loopback. Points are medians, bands reach from the lowest to the highest run.</p>
<ul>
{facts}
</ul>
{warned}
{drawn}
{"<h2>What is wanted</h2>" if judged else ""}
{judged}
<h2>Figures</h2>
<p>Medians, in brackets the lowest and the highest run. CPU seconds are those of both processes for 10<sup>9</sup> bytes.</p>
{chr(10).join(values)}
{guest_part(results.guest)}
{failures(results)}
<h2>Commands</h2>
<p>Each with taskset on one CPU. All numbers are in results.json.</p>
{commands(results)}
</body>
</html>
"""


def write_report(results: Results, folder: str, pictures: list[str]) -> None:
    """Writes the report. pictures are the names of the charts in the folder."""
    with open(os.path.join(folder, "report.html"), "w", encoding="utf-8") as stream:
        stream.write(page(results, figures(folder, pictures)))
