# SPDX-License-Identifier: BSD-2-Clause
"""it_perf: measures the library, and plain TCP in the same program."""

from __future__ import annotations

import functools
import json
import os
import subprocess

from .contestant import HOST, Contestant, Job, first_line, flat, positive
from .pair import Command, Failure
from .patterns import KIB, Pattern


@functools.lru_cache(maxsize=None)
def help_text(it_perf: str) -> str:
    try:
        return subprocess.run([it_perf, "--help"], capture_output=True, text=True, timeout=20, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


class ItPerf(Contestant):
    """The parts that all runs of it_perf have in common."""

    options: tuple[str, ...] = ()

    def __init__(self, it_perf: str) -> None:
        self.program = it_perf

    def missing(self) -> str:
        return "" if os.access(self.program, os.X_OK) else f"{self.program} is not built"

    def version(self) -> str:
        folder = os.path.dirname(os.path.abspath(__file__))
        commit = first_line(["git", "-C", folder, "describe", "--always", "--dirty"], r"^(\S+)$")
        library = first_line([self.program, "--version"], r"^it_perf (\S+)")
        return f"{library}, commit {commit}" if commit != "unknown" else library

    def commands(self, job: Job) -> tuple[Command, Command]:
        pattern = job.pattern
        server = [self.program, "server", "--once", "--port", str(job.port), *self.server_options()]
        client = [self.program, "client", self.host(), "--port", str(job.port), "--json", "--runs", "1"]
        client += ["--op", pattern.op, "--measure", pattern.measure, "--mode", pattern.mode]
        client += ["--size", str(job.size), "--iters", str(job.iters)]
        if pattern.measure != "lat":
            client += ["--depth", str(pattern.depth)]
        return server, client + list(self.options)

    def host(self) -> str:
        return HOST

    def server_options(self) -> list[str]:
        return []

    figure = "value"  # of the JSON

    def value(self, job: Job, output: str) -> float:
        try:
            result, _ = json.JSONDecoder().raw_decode(output, output.index("{"))
        except ValueError as error:
            raise Failure(f"no JSON: {flat(output)}") from error
        return positive(str(result.get(self.figure)), output)


class Itapi(ItPerf):
    name = "itapi"
    label = "itapi"
    note = "uiwarp, CRC on"

    def can(self, pattern: Pattern, size: int) -> bool:
        return not (pattern.op == "write" and pattern.mode == "wait")


class ItapiBefore(Itapi):
    """it_perf of another build, to show what has changed since."""

    def __init__(self, it_perf: str, name: str) -> None:
        super().__init__(it_perf)
        self.name = name
        self.label = f"itapi, {name.replace('_', ' ')}"


class ItapiTypical(Itapi):
    """Reports the median of the single round trips, as perftest does."""

    name = "itapi_typical"
    label = "itapi, typical"
    note = "uiwarp, CRC on, the median of single round trips"
    options = ("--percentiles",)
    figure = "p50_us"

    def can(self, pattern: Pattern, size: int) -> bool:
        return pattern.measure == "lat" and pattern.mode == "poll"


class ItapiNoCrc(Itapi):
    name = "itapi_nocrc"
    label = "itapi, CRC off"
    note = "uiwarp, without CRC"
    options = ("--crc", "off")

    def can(self, pattern: Pattern, size: int) -> bool:
        return pattern.measure == "bw" or (pattern.measure == "lat" and pattern.mode == "poll" and pattern.op != "read")


class ItapiCoalesce(Itapi):
    name = "itapi_coalesce"
    label = "itapi, coalescing"
    note = "uiwarp, CRC on, IT_COALESCE_WR_FLAG"
    options = ("--coalesce",)

    def can(self, pattern: Pattern, size: int) -> bool:
        return pattern.measure == "rate"


class ItapiLocal(Itapi):
    """Measures from the first message of a connection to the last completion at the sender, as perftest does. Tens of megabytes may
    then be in the sockets.
    """

    name = "itapi_local"
    label = "itapi, local end"
    note = "uiwarp, CRC on, from the first message to the last completion at the sender"
    options = ("--local", "--warmup", "0")

    def can(self, pattern: Pattern, size: int) -> bool:
        return pattern.measure != "lat" and pattern.mode == "poll"

    def messages(self, job: Job) -> int:
        return job.iters


class ItapiNoSpin(Itapi):
    """Switches off the short polling of it_evd_wait before it sleeps."""

    name = "itapi_nospin"
    label = "itapi, no spinning"
    note = "uiwarp, CRC on, waits sleep at once"
    options = ("--spin", "0")

    def missing(self) -> str:
        return super().missing() or ("" if "--spin" in help_text(self.program) else "it_perf has no --spin")

    def can(self, pattern: Pattern, size: int) -> bool:
        return pattern.mode == "wait" and super().can(pattern, size)


class PlainTcp(ItPerf):
    name = "tcp"
    label = "plain TCP"
    note = "send and recv of it_perf; polling: MSG_DONTWAIT in a loop; streams block"
    options = ("--transport", "tcp")

    def version(self) -> str:
        return f"Linux {os.uname().release}"

    def can(self, pattern: Pattern, size: int) -> bool:
        return True


def congestion_of_ours() -> str:
    """Returns the congestion control of our streams: that of the system, but within the host no
    pacing one.
    """
    try:
        with open("/proc/sys/net/ipv4/tcp_congestion_control", encoding="ascii") as stream:
            name = stream.read().strip()
    except OSError:
        return "reno"
    return "reno" if name.startswith("bbr") else name


class PlainTcpSame(PlainTcp):
    """Differs from our run in the library only."""

    name = "tcp_same"

    def __init__(self, it_perf: str) -> None:
        super().__init__(it_perf)
        control = congestion_of_ours()
        self.label = f"plain TCP, {control}"
        self.note = f"the same with the congestion control of our streams, {control}"
        self.options = ("--transport", "tcp", "--congestion", control)


class PlainTcpSums(PlainTcpSame):
    """Shows the cost of checksums, independent of the program that computes them."""

    name = "tcp_sums"

    def __init__(self, it_perf: str) -> None:
        super().__init__(it_perf)
        self.label += ", sums"
        self.note += "; each side also makes the sums that ours does with CRC on"
        self.options += ("--sums",)

    def can(self, pattern: Pattern, size: int) -> bool:
        sends = pattern.op == "send" and pattern.measure == "lat" and pattern.mode == "poll"
        return size >= 64 * KIB and (sends or pattern.measure == "bw")
