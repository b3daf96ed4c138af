# SPDX-License-Identifier: BSD-2-Clause
"""A device of rdma-core: perftest on it, and it_perf."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess

from .contestant import Contestant, Job, flat, package_version, positive
from .itapi import Itapi
from .pair import Command, Failure
from .patterns import Pattern


def asked(command: Command) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=20, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


@functools.lru_cache(maxsize=None)
def device_address(device: str) -> str:
    """Returns the IPv4 address of the device's interface, or an empty text."""
    interface = re.search(r"netdev (\S+)", asked(["rdma", "link", "show", f"{device}/1"]))
    if not interface:
        return ""
    address = re.search(r"inet (\S+)/", asked(["ip", "-o", "-4", "address", "show", "dev", interface.group(1)]))
    return address.group(1) if address else ""


def device_listens(port: int) -> bool:
    """Checks for a listener of rdma_cm, which is not among the sockets of /proc."""
    return bool(re.search(rf"LISTEN.*:{port}\b", asked(["rdma", "resource", "show", "cm_id"])))


def fits_device(pattern: Pattern, size: int) -> bool:
    return pattern.measure in ("lat", "bw") and pattern.mode == "poll"


class Perftest(Contestant):
    name = "perftest"
    counts_cpu = False  # threads of the kernel work for it
    listens = staticmethod(device_listens)

    def __init__(self, device: str) -> None:
        self.device = device
        self.label = f"perftest on {device}"
        self.note = "ib_send_lat, ib_write_bw and so on with -R; polling"

    def missing(self) -> str:
        if shutil.which("rdma") is None or shutil.which("ib_send_lat") is None:
            return "perftest or rdma (iproute2) is not installed"
        return "" if device_address(self.device) else f"there is no device {self.device} with an address"

    def version(self) -> str:
        return f"perftest {package_version('perftest') or 'of unknown version'}"

    def can(self, pattern: Pattern, size: int) -> bool:
        return fits_device(pattern, size)

    def commands(self, job: Job) -> tuple[Command, Command]:
        pattern = job.pattern
        base = [f"ib_{pattern.op}_{pattern.measure}", "-d", self.device, "-R", "-F", "-p", str(job.port)]
        base += ["-s", str(job.size), "-n", str(job.iters)]
        if pattern.measure == "bw":
            base += ["-t", str(pattern.depth), "-Q", str(max(1, pattern.depth // 4))]
        base += ["-o", "8"] if pattern.op == "read" else ["-I", str(job.size if job.size <= 64 else 0)]
        figure = "latency" if pattern.measure == "lat" else "message_rate"
        return base, [*base, f"--output={figure}", device_address(self.device)]

    def value(self, job: Job, output: str) -> float:
        figures = re.findall(r"^([\d.]+)$", output, re.MULTILINE)
        if not figures:
            raise Failure(f"no figures: {flat(output)}")
        figure = positive(figures[-1], output)
        return figure if job.pattern.measure == "lat" else job.pattern.value(figure * 1e6, job.size)

    def messages(self, job: Job) -> int:
        return job.iters


class ItapiDevice(Itapi):
    name = "itapi_device"
    counts_cpu = False

    def __init__(self, it_perf: str, device: str) -> None:
        super().__init__(it_perf)
        self.device = device
        self.options = ("--ia", device)
        self.label = f"itapi on {device}"
        self.note = "it_perf --ia, CRC as the device makes it"

    def missing(self) -> str:
        return super().missing() or ("" if device_address(self.device) else f"there is no device {self.device}")

    def can(self, pattern: Pattern, size: int) -> bool:
        return fits_device(pattern, size)

    def host(self) -> str:
        return device_address(self.device)

    def server_options(self) -> list[str]:
        return list(self.options)
