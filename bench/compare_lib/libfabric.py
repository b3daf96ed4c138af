# SPDX-License-Identifier: BSD-2-Clause
"""libfabric's tcp provider: its fi_pingpong, and fi_stream, which this tree builds where libfabric can be had."""

from __future__ import annotations

import os
import re

from .contestant import HOST, Contestant, Job, first_line, flat, package_version, positive
from .pair import Command, Failure
from .patterns import Pattern


def library_version() -> str:
    package = package_version("libfabric1")
    return f"libfabric1 {package}" if package else first_line(["fi_info", "--version"], r"libfabric: (\S+)")


class FiPingpong(Contestant):
    name = "fi_pingpong"
    label = "libfabric tcp, fi_pingpong"
    note = "fi_pingpong -e msg -p tcp; warms up for a few messages only"
    program = "fi_pingpong"

    def version(self) -> str:
        package = package_version("libfabric-bin")
        return f"libfabric-bin {package}" if package else library_version()

    def can(self, pattern: Pattern, size: int) -> bool:
        return pattern.name == "send_lat"

    def commands(self, job: Job) -> tuple[Command, Command]:
        base = ["env", "FI_PROVIDER=tcp", self.program, "-e", "msg", "-p", "tcp"]
        base += ["-I", str(job.iters), "-S", str(job.size)]
        return [*base, "-B", str(job.port)], [*base, "-P", str(job.port), HOST]

    def value(self, job: Job, output: str) -> float:
        # bytes, sent, acknowledged, total, time, MB/s, us, ...
        found = re.search(r"=\S+\s+\S+\s+[\d.]+s\s+[\d.]+\s+([\d.]+)\s", output)
        if not found:
            raise Failure(f"no figures: {flat(output)}")
        return positive(found.group(1), output)

    def messages(self, job: Job) -> int:
        return job.iters


class FiStream(Contestant):
    name = "libfabric"
    label = "libfabric tcp"
    note = "fi_stream, FI_EP_MSG on the tcp provider: messages, RDMA writes and reads; polls"

    def __init__(self, program: str) -> None:
        self.program = program

    def missing(self) -> str:
        return "" if os.access(self.program, os.X_OK) else f"{self.program} is not built (libfabric-dev)"

    def version(self) -> str:
        return library_version()

    def can(self, pattern: Pattern, size: int) -> bool:
        return pattern.mode == "poll"

    def commands(self, job: Job) -> tuple[Command, Command]:
        pattern = job.pattern
        words = [str(job.port), pattern.op, "lat" if pattern.measure == "lat" else "bw"]
        words += [str(job.size), str(job.iters), str(job.warm_up), str(pattern.depth)]
        # Otherwise libfabric also starts its providers for devices.
        base = ["env", "FI_PROVIDER=tcp", self.program]
        return [*base, "server", *words], [*base, "client", HOST, *words]

    def value(self, job: Job, output: str) -> float:
        found = re.search(r"^seconds ([\d.e+-]+)$", output, re.MULTILINE)
        if not found:
            raise Failure(f"no figures: {flat(output)}")
        seconds = positive(found.group(1), output)
        if job.pattern.measure == "lat":
            return seconds * 1e6 / job.iters / (1 if job.pattern.op == "read" else 2)
        return job.pattern.value(job.iters / seconds, job.size)
