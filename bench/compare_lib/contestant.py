# SPDX-License-Identifier: BSD-2-Clause
"""What a contestant has to say about itself."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from typing import Callable

from .pair import Command, Failure, tcp_listens
from .patterns import Pattern

HOST = "127.0.0.1"


@dataclass(frozen=True)
class Job:
    """One run that a contestant is asked for."""

    pattern: Pattern
    size: int
    iters: int  # messages that are measured
    port: int

    @property
    def warm_up(self) -> int:
        return self.iters // 10 + 1


class Contestant:
    """One way to move bytes. A subclass fills in everything below."""

    name = ""
    label = ""
    note = ""  # what a reader has to know to compare
    program = ""  # has to be installed
    counts_cpu = True  # False: what works for it is not in its processes
    listens: Callable[[int], bool] = staticmethod(tcp_listens)

    def missing(self) -> str:
        """Why it cannot run here; empty if it can."""
        return "" if shutil.which(self.program) else f"{self.program} is not installed"

    def version(self) -> str:
        raise NotImplementedError

    def can(self, pattern: Pattern, size: int) -> bool:
        raise NotImplementedError

    def commands(self, job: Job) -> tuple[Command, Command]:
        """Server and client."""
        raise NotImplementedError

    def value(self, job: Job, output: str) -> float:
        """In the pattern's unit, from what the client printed. Raises Failure."""
        raise NotImplementedError

    def messages(self, job: Job) -> int:
        """All that are sent in the direction of the data, warm-up too."""
        return job.iters + job.warm_up


def first_line(command: Command, pattern: str) -> str:
    """What a program says of itself, as far as the pattern's group matches; "unknown" otherwise."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    found = re.search(pattern, done.stdout + done.stderr)
    return found.group(1).strip() if found else "unknown"


def package_version(package: str) -> str:
    """Of Debian's package; empty elsewhere."""
    version = first_line(["dpkg-query", "-W", "-f=${Version}", package], r"^(\d\S*)")
    return "" if version == "unknown" else version


def flat(text: str) -> str:
    """The end of what a program printed, in one line."""
    return " ".join(text.split())[-200:] or "no output"


def positive(text: str, output: str) -> float:
    """A number that can be a measurement."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise Failure(f"no figure in: {flat(output)}")
    return value
