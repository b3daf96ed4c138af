# SPDX-License-Identifier: BSD-2-Clause
"""UCX over TCP, measured by its own ucx_perftest."""

from __future__ import annotations

from .contestant import HOST, Contestant, Job, first_line, flat, package_version, positive
from .pair import Command, Failure
from .patterns import Pattern

TESTS = {
    ("send", "lat"): "tag_lat",
    ("send", "bw"): "tag_bw",
    ("send", "rate"): "tag_bw",
    ("write", "lat"): "ucp_put_lat",
    ("write", "bw"): "ucp_put_bw",
    ("write", "rate"): "ucp_put_bw",
    ("read", "lat"): "ucp_get",
    ("read", "bw"): "ucp_get",
}

# Columns of its CSV, of the whole run: us (of a ping-pong, half a round trip), messages/s. Its MB are of 2^20 bytes.
OVERALL_LATENCY = 3
OVERALL_RATE = 7


class Ucx(Contestant):
    name = "ucx"
    label = "UCX tcp"
    note = "ucx_perftest, UCX_TLS=tcp: tag messages, put, get; streams poll and have as many under way as UCX likes"
    program = "ucx_perftest"

    def version(self) -> str:
        package = package_version("ucx-utils")
        if package:
            return f"ucx-utils {package}"
        return first_line(["ucx_info", "-v"], r"Version\s+(\S+)")

    def can(self, pattern: Pattern, size: int) -> bool:
        return pattern.mode == "poll" or pattern.op == "send"

    def commands(self, job: Job) -> tuple[Command, Command]:
        base = ["env", "UCX_TLS=tcp", "UCX_NET_DEVICES=lo", self.program, "-p", str(job.port)]
        pattern = job.pattern
        client = [*base, HOST, "-t", TESTS[pattern.op, pattern.measure], "-s", str(job.size)]
        client += ["-n", str(job.iters), "-w", str(job.warm_up), "-f", "-v"]
        if pattern.op == "read":
            client += ["-O", str(pattern.depth)]
        if pattern.mode == "wait":
            client += ["-I", "-E", "sleep"]
        return base, client

    def value(self, job: Job, output: str) -> float:
        rows = [line.split(",") for line in output.splitlines() if line.lstrip()[:1].isdigit() and line.count(",") >= 7]
        if not rows:
            raise Failure(f"no figures: {flat(output)}")
        if job.pattern.measure == "lat":
            return positive(rows[-1][OVERALL_LATENCY], output)
        return job.pattern.value(positive(rows[-1][OVERALL_RATE], output), job.size)
