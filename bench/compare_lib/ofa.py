# SPDX-License-Identifier: BSD-2-Clause
"""perftest under it_run: the cost of the layer of libibverbs and librdmacm beside it_perf."""

from __future__ import annotations

import os
import re
import shutil

from .contestant import HOST, Job, flat, positive
from .pair import Command, Failure, tcp_listens
from .patterns import Pattern
from .perftest import Perftest


class OfaPerftest(Perftest):
    """perftest with CRC and without inline data. A completion means the same as in it_perf: the
    buffer may be used again.
    """

    name = "ofa"
    label = "perftest under it_run"
    note = "ib_send_lat, ib_write_bw and so on with -R, --completions=local, CRC on; polling; latency: t_typical"
    completions = "local"
    counts_cpu = True
    listens = staticmethod(tcp_listens)

    def __init__(self, it_run: str) -> None:
        self.device = "uiwarp_lo"
        self.it_run = it_run

    def missing(self) -> str:
        if shutil.which("ib_send_lat") is None:
            return "perftest is not installed"
        return "" if os.access(self.it_run, os.X_OK) else f"{self.it_run} is not built"

    def can(self, pattern: Pattern, size: int) -> bool:
        return pattern.mode == "poll"

    def commands(self, job: Job) -> tuple[Command, Command]:
        pattern = job.pattern
        kind = "lat" if pattern.measure == "lat" else "bw"
        base = [self.it_run, f"--completions={self.completions}", f"ib_{pattern.op}_{kind}"]
        base += ["-d", self.device, "-R", "-F", "-p", str(job.port), "-s", str(job.size), "-n", str(max(job.iters, 5))]
        if kind == "bw":
            base += ["-t", str(pattern.depth), "-Q", str(max(1, pattern.depth // 4))]
        if pattern.op == "read":
            base += ["-o", str(max(1, min(pattern.depth, 128)))]
        return base, [*base, *([] if kind == "lat" else ["--output=message_rate"]), HOST]

    def value(self, job: Job, output: str) -> float:
        """Returns t_typical of a ping-pong, which follows size, number, t_min and t_max. The longest
        round trips do not count.
        """
        if job.pattern.measure != "lat":
            return super().value(job, output)
        row = re.search(r"^ *\d+ +\d+ +[\d.]+ +[\d.]+ +([\d.]+)", output, re.MULTILINE)
        if not row:
            raise Failure(f"no figures: {flat(output)}")
        return positive(row.group(1), output)


class OfaAcknowledged(OfaPerftest):
    """Shows the cost of acknowledgement."""

    name = "ofa_acks"
    label = "perftest under it_run, acknowledged"
    note = "the same; a completion says that the peer's side has the data"
    completions = "peer"
