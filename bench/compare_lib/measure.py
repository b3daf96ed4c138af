# SPDX-License-Identifier: BSD-2-Clause
"""Runs a pattern at a size with all contestants in turn, and keeps the results."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from typing import Callable

from .contestant import Contestant, Job
from .pair import Failure, Outcome, Overtime, free_port, pinned, run_pair, shown
from .patterns import Pattern

Pin = tuple[int, int]

# Messages of the first trial, and the most of any run.
TRIAL_BYTES = 2 << 20
TRIAL_MESSAGES = {"lat": 100, "bw": 2000, "rate": 4000}
MOST_MESSAGES = 50_000_000
TRIALS = 3

# Streams run at one of two speeds, whoever measures, so there are more and shorter runs.
STREAM_RUNS = 2
GIGABYTE = 1e9


@dataclass(frozen=True)
class Sample:
    """One run."""

    value: float
    pin: Pin
    cpu_seconds: float
    payload: int  # bytes, warm-up too


@dataclass
class Series:
    """All runs of one contestant in one cell."""

    contestant: str
    command: str = ""
    iters: int = 0
    start_cpu_seconds: float = 0.0  # of a run that moves next to nothing
    start_payload: int = 0
    samples: list[Sample] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    @property
    def values(self) -> list[float]:
        return [sample.value for sample in self.samples]

    @property
    def median(self) -> float | None:
        return statistics.median(self.values) if self.samples else None

    def cpu_per_gigabyte(self) -> list[float]:
        """Returns the CPU seconds of both processes for 10^9 bytes, without those of starting
        them.
        """
        return [
            max(0.0, sample.cpu_seconds - self.start_cpu_seconds)
            * GIGABYTE
            / (sample.payload - self.start_payload)
            for sample in self.samples
            if sample.payload > 4 * self.start_payload
        ]


@dataclass
class Cell:
    """A pattern at a size."""

    pattern: Pattern
    size: int
    series: dict[str, Series] = field(default_factory=dict)


class Runner:
    """How long, how often and where to run."""

    def __init__(self, runs: int, seconds: float, limit: float, pins: list[Pin], say: Callable[[str], None]) -> None:
        self.runs = runs
        self.seconds = seconds
        self.limit = limit
        self.pins = pins
        self.say = say

    def once(
        self, contestant: Contestant, pattern: Pattern, size: int, iters: int, pin: Pin
    ) -> tuple[Job, Outcome, float]:
        """Does one run. Another program may have taken the port, so there is a second attempt."""
        for attempt in (1, 2):
            job = Job(pattern, size, iters, free_port())
            server, client = contestant.commands(job)
            try:
                outcome = run_pair(server, client, job.port, pin, self.limit, contestant.listens)
                return job, outcome, contestant.value(job, outcome.output)
            except Failure as failure:
                if attempt == 2 or isinstance(failure, Overtime):
                    raise
        raise AssertionError("unreachable")

    def messages_for(self, pattern: Pattern, size: int, value: float) -> int:
        seconds = self.seconds / (STREAM_RUNS if pattern.measure == "bw" else 1)
        wanted = seconds / pattern.seconds_per_message(value, size)
        return max(10, min(MOST_MESSAGES, int(wanted)))

    def prepare(self, contestant: Contestant, pattern: Pattern, size: int) -> Series:
        """Finds how many messages fill the time of a run, and the cost of a start."""
        series = Series(contestant.name)
        iters = max(10, min(TRIAL_MESSAGES[pattern.measure], TRIAL_BYTES // size))
        try:
            job, outcome, value = self.once(contestant, pattern, size, iters, self.pins[0])
            series.start_cpu_seconds = outcome.cpu_seconds
            series.start_payload = contestant.messages(job) * size
            wanted = self.messages_for(pattern, size, value)
            # The first messages of a connection are slow, so a short trial may mislead.
            for _ in range(TRIALS):
                if wanted <= 4 * iters:
                    break
                iters = wanted // 3
                _, _, value = self.once(contestant, pattern, size, iters, self.pins[-1])
                wanted = self.messages_for(pattern, size, value)
            series.iters = wanted
        except Failure as failure:
            series.failures.append(str(failure))
        return series

    def sample(self, contestant: Contestant, cell: Cell, pin: Pin) -> None:
        series = cell.series[contestant.name]
        try:
            job, outcome, value = self.once(contestant, cell.pattern, cell.size, series.iters, pin)
        except Failure as failure:
            series.failures.append(str(failure))
            return
        server, client = contestant.commands(job)
        series.command = f"{shown(pinned(server, pin[1]))} & {shown(pinned(client, pin[0]))}"
        payload = contestant.messages(job) * cell.size
        series.samples.append(Sample(value, pin, outcome.cpu_seconds, payload))

    def run(self, cell: Cell, contestants: list[Contestant]) -> None:
        """Runs all contestants that can run one after the other. In each round another one is
        first.
        """
        chosen = [one for one in contestants if one.can(cell.pattern, cell.size)]
        for contestant in chosen:
            cell.series[contestant.name] = self.prepare(contestant, cell.pattern, cell.size)
        runs = self.runs * (STREAM_RUNS if cell.pattern.measure == "bw" else 1)
        for number in range(runs):
            pin = self.pins[number % len(self.pins)]
            first = number % len(chosen) if chosen else 0
            for contestant in chosen[first:] + chosen[:first]:
                # Two failures are enough. One that never started has failed once.
                failures = len(cell.series[contestant.name].failures)
                if cell.series[contestant.name].iters > 0 and failures < 2:
                    self.sample(contestant, cell, pin)
        for series in cell.series.values():
            for failure in dict.fromkeys(series.failures):
                self.say(f"{cell.pattern.name} {cell.size}: {series.contestant} failed: {failure}")
