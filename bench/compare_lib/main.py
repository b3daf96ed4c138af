# SPDX-License-Identifier: BSD-2-Clause
"""The command: options, the runs, and the places of results."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from . import before, guest, machine, results as outcome
from .contestant import Contestant
from .itapi import Itapi, ItapiBefore, ItapiCoalesce, ItapiLocal, ItapiNoCrc, ItapiNoSpin, ItapiTypical, PlainTcp, PlainTcpSame, PlainTcpSums
from .judge import judge
from .libfabric import FiPingpong, FiStream
from .measure import Cell, Pin, Runner
from .ofa import OfaAcknowledged, OfaPerftest
from .patterns import BY_NAME, PATTERNS, Pattern, parse_size
from .perftest import ItapiDevice, Perftest
from .report import write_report
from .ucx import Ucx

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SIZES = "1,64,1k,4k,64k,1m"
QUICK_SIZES = "64,64k"
QUICK_PATTERNS = "send_lat,send_lat_wait,send_bw,write_bw,read_bw,write_rate"


def say(text: str) -> None:
    print(f"compare: {text}", file=sys.stderr, flush=True)


def sizes_option(text: str) -> list[int]:
    try:
        return sorted({parse_size(word) for word in text.split(",")})
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def pin_option(text: str) -> Pin:
    words = text.split(",")
    if len(words) != 2 or not all(word.isdecimal() for word in words):
        raise argparse.ArgumentTypeError(f"no two CPUs: {text}")
    return int(words[0]), int(words[1])


def patterns_option(text: str) -> list[Pattern]:
    unknown = [word for word in text.split(",") if word not in BY_NAME]
    if unknown:
        raise argparse.ArgumentTypeError(f"no such pattern: {', '.join(unknown)}; there are {', '.join(BY_NAME)}")
    return [pattern for pattern in PATTERNS if pattern.name in text.split(",")]


def count_option(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 1000:
        raise argparse.ArgumentTypeError(f"no number from 1 to 1000: {text}")
    return int(text)


def seconds_option(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.001 <= value <= 3600:
        raise argparse.ArgumentTypeError(f"no time from 0.001 to 3600 s: {text}")
    return value


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="compare",
        description="Measures itapi, plain TCP, libfabric and UCX over loopback, in turn, whichever are installed.",
        epilog="Exit status: 0 done, 1 something failed, 2 wrong usage.",
        allow_abbrev=False,
    )
    made.add_argument("--quick", action="store_true",
                      help=f"sizes {QUICK_SIZES}, few patterns, 3 short runs: under a minute")
    made.add_argument("--runs", type=count_option,
                      help="runs of each, streams twice as many; default 6, as often one way to pin as the other")
    made.add_argument("--seconds", type=seconds_option, help="length of a run, streams half; default 0.1, quick 0.05")
    made.add_argument("--sizes", type=sizes_option, help=f"bytes of a message; default {SIZES}")
    made.add_argument("--patterns", type=patterns_option, metavar="LIST",
                      help=f"of {', '.join(BY_NAME)}")
    made.add_argument("--only", metavar="LIST", help="contestants: itapi,tcp,ucx...; default: all that are here")
    made.add_argument("--pin", type=pin_option, metavar="A,B",
                      help="client on CPU A, server on B; default: two CPUs, in turn either way")
    made.add_argument("--device", metavar="NAME",
                      help="on a device of rdma-core: it_perf and perftest, beside uiwarp and TCP")
    made.add_argument("--vm", action="store_true", help="also on the kernel's siw, in a virtual machine")
    made.add_argument("--timeout", type=seconds_option, default=10.0, metavar="S", help="of one run; default 10 s")
    made.add_argument("--before", metavar="DIR",
                      help="only this build beside an older one of that folder, which takes part twice")
    made.add_argument("--build", default=os.path.join(ROOT, "build"), metavar="DIR", help="where itapi is built")
    made.add_argument("--out", metavar="DIR", help="where results go; default compare in that folder")
    return made


def contestants(options: argparse.Namespace) -> list[Contestant]:
    binaries = os.path.join(os.path.abspath(options.build), "bin")
    it_perf = os.path.join(binaries, "it_perf")
    if options.before:
        other = os.path.join(os.path.abspath(options.before), "bin", "it_perf")
        return [Itapi(it_perf), *(ItapiBefore(other, name) for name in before.TWINS)]
    if options.device:
        return [PlainTcp(it_perf), Itapi(it_perf), ItapiDevice(it_perf, options.device), Perftest(options.device)]
    plain = [kind(it_perf) for kind in (PlainTcp, PlainTcpSame, PlainTcpSums)]
    ours = [kind(it_perf) for kind in (Itapi, ItapiNoCrc, ItapiCoalesce, ItapiLocal, ItapiNoSpin, ItapiTypical)]
    it_run = os.path.join(binaries, "it_run")
    ours += [OfaPerftest(it_run), OfaAcknowledged(it_run)]
    return [*plain, *ours, FiStream(os.path.join(binaries, "bench", "fi_stream")), FiPingpong(), Ucx()]


def choose(options: argparse.Namespace, results: outcome.Results) -> list[Contestant]:
    """Returns the wanted contestants that can run. The results name the others."""
    everybody = contestants(options)
    wanted = options.only.split(",") if options.only else [one.name for one in everybody]
    unknown = set(wanted) - {one.name for one in everybody}
    if unknown:
        parser().error(f"no such contestant: {', '.join(sorted(unknown))}; "
                       f"there are {', '.join(one.name for one in everybody)}")
    chosen = []
    for one in everybody:
        reason = one.missing() if one.name in wanted else ""
        if reason:
            say(f"{one.label} is left out: {reason}")
            results.absent[one.label] = reason
        elif one.name in wanted:
            chosen.append(one)
            results.peers.append(outcome.Peer(one.name, one.label, one.note, one.version(), one.counts_cpu))
    return chosen


def pins_for(options: argparse.Namespace) -> list[Pin]:
    if options.pin:
        return [options.pin]
    cpus = sorted(os.sched_getaffinity(0))
    return [(cpus[0], cpus[1]), (cpus[1], cpus[0])] if len(cpus) > 1 else [(cpus[0], cpus[0])]


def settle(options: argparse.Namespace) -> None:
    """Sets defaults that depend on other options."""
    options.out = options.out or os.path.join(options.build, "compare")
    quick = options.quick
    options.runs = options.runs or (3 if quick else 6)
    options.seconds = options.seconds or (0.05 if quick else 0.1)
    options.patterns = options.patterns or (patterns_option(QUICK_PATTERNS) if quick else list(PATTERNS))
    options.sizes = options.sizes or sizes_option(QUICK_SIZES if quick else SIZES)


def measure(options: argparse.Namespace, chosen: list[Contestant], results: outcome.Results) -> None:
    runner = Runner(options.runs, options.seconds, options.timeout, pins_for(options), say)
    cells = [Cell(pattern, size) for pattern in options.patterns for size in options.sizes if pattern.fits(size)]
    load = machine.Load()
    for number, cell in enumerate(cells, 1):
        if sys.stderr.isatty():
            print(f"\r{number}/{len(cells)} {cell.pattern.name} {cell.size}\x1b[K", end="", file=sys.stderr, flush=True)
        runner.run(cell, chosen)
        if cell.series:
            results.cells.append(cell)
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    results.load = load.others()


def check_folder(folder: str) -> None:
    """Checks that files can be made there now, not after minutes of measuring."""
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder):
        pass


def draw(folder: str) -> list[str]:
    """Runs bench/plot on the results in a folder. Returns the names of the charts."""
    done = subprocess.run([os.path.join(ROOT, "bench", "plot"), os.path.join(folder, "results.json"), folder],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        say(f"there are no pictures: {done.stderr.strip()}")
        return []
    return [name for name in done.stdout.split() if name != "overview"]


def write(options: argparse.Namespace, results: outcome.Results) -> None:
    os.makedirs(options.out, exist_ok=True)
    with open(os.path.join(options.out, "results.json"), "w", encoding="utf-8") as stream:
        json.dump(outcome.as_json(results), stream, indent=1)
        stream.write("\n")
    with open(os.path.join(options.out, "table.md"), "w", encoding="utf-8") as stream:
        stream.write(outcome.document(results))
    write_report(results, options.out, draw(options.out))
    for rows in outcome.tables(results):
        print(outcome.plain(rows))
    if options.before:
        print("\n".join(before.lines(results.cells)))
    for line in outcome.machine_lines(results):
        print(line)
    for line in outcome.guest_lines(results) + outcome.warnings(results):
        say(line)
    print(f"written: {os.path.join(options.out, 'report.html')}, results.json, table.md and pictures", flush=True)


def main(arguments: list[str]) -> int:
    options = parser().parse_args(arguments)
    settle(options)
    if shutil.which("taskset") is None:
        say("taskset (util-linux) is not installed")
        return 1
    try:
        return run(options, arguments)
    except KeyboardInterrupt:
        say("interrupted")
        return 1
    except OSError as error:
        say(str(error))
        return 1


def run(options: argparse.Namespace, arguments: list[str]) -> int:
    # Running programs are ended, too.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.default_int_handler)
    started = time.monotonic()
    now = datetime.datetime.now(datetime.timezone.utc)
    command = shlex.join(["bench/compare", *arguments])
    about = machine.describe(options.build)
    results = outcome.Results(now.strftime("%Y-%m-%d %H:%M UTC"), command, options.runs, about)
    chosen = choose(options, results)
    if not chosen:
        say("there is nobody to measure")
        return 1
    check_folder(options.out)
    measure(options, chosen, results)
    results.seconds = time.monotonic() - started
    if options.vm:
        say("comparing in a virtual machine")
        results.guest = guest.compare(ROOT, options.build, min(options.runs, 5), options.seconds)
    results.verdicts = judge(results.cells, results.labels)
    write(options, results)
    failed = bool(outcome.guest_lines(results))
    failed = failed or any(series.failures for cell in results.cells for series in cell.series.values())
    return 1 if failed or not results.cells else 0
