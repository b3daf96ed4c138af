# SPDX-License-Identifier: BSD-2-Clause
"""The description of a contestant."""

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
    """One run of a contestant."""

    pattern: Pattern
    size: int
    iters: int  # messages that are measured
    port: int

    @property
    def warm_up(self) -> int:
        return self.iters // 10 + 1


class Contestant:
    """One way to move bytes. A subclass defines everything below."""

    name = ""
    label = ""
    note = ""  # what a reader has to know to compare
    program = ""  # has to be installed
    counts_cpu = True  # False: what works for it is not in its processes
    listens: Callable[[int], bool] = staticmethod(tcp_listens)

    def missing(self) -> str:
        """Returns why it cannot run here, or an empty text if it can."""
        return "" if shutil.which(self.program) else f"{self.program} is not installed"

    def version(self) -> str:
        raise NotImplementedError

    def can(self, pattern: Pattern, size: int) -> bool:
        raise NotImplementedError

    def commands(self, job: Job) -> tuple[Command, Command]:
        """Returns the commands of server and client."""
        raise NotImplementedError

    def value(self, job: Job, output: str) -> float:
        """Returns the value in the pattern's unit from the client's output. Raises Failure."""
        raise NotImplementedError

    def messages(self, job: Job) -> int:
        """Returns the number of messages sent in the direction of the data, including the warm-up.
        """
        return job.iters + job.warm_up


def first_line(command: Command, pattern: str) -> str:
    """Returns the part of a program's output that the pattern's group matches, or "unknown"."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    found = re.search(pattern, done.stdout + done.stderr)
    return found.group(1).strip() if found else "unknown"


def package_version(package: str) -> str:
    """Returns the version of a Debian package, or an empty text on other systems."""
    version = first_line(["dpkg-query", "-W", "-f=${Version}", package], r"^(\d\S*)")
    return "" if version == "unknown" else version


def flat(text: str) -> str:
    """Returns the end of a program's output in one line."""
    return " ".join(text.split())[-200:] or "no output"


def positive(text: str, output: str) -> float:
    """Converts text to a number that can be a measurement."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise Failure(f"no figure in: {flat(output)}")
    return value
